//===- Link.cpp - From an object file to a shared object ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLD reads and writes files only, and keeps its state in globals: the object
// goes through a temporary folder, one link at a time.
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Link.h"

#include "nested/Target/Error.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace nested;

static Error makeFileError(StringRef path, std::error_code code) {
  return makeEnvironmentError("cannot use the temporary file '" + path +
                              "': " + code.message());
}

static Error writeFile(StringRef path, ArrayRef<char> bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (code)
    return makeFileError(path, code);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    return makeFileError(path, error);
  }
  return Error::success();
}

/// The only functions that a shared object may take from its host.
static bool isAllowedImport(StringRef name) {
  return is_contained({"memcpy", "memmove", "memset", "memcmp"}, name);
}

static Error checkImports(MemoryBufferRef library) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(library);
  if (!file)
    return file.takeError();
  SmallVector<std::string> missing;
  auto *elf = cast<object::ELFObjectFileBase>(file->get());
  for (const object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->empty() && !isAllowedImport(*name))
      missing.push_back("'" + name->str() + "'");
  }
  if (missing.empty())
    return Error::success();
  llvm::sort(missing);
  return makeInternalError(
      "compiled code needs the symbol " + join(missing, ", ") +
      ", but an artifact may take nothing from its host but memcpy, memmove, "
      "memset and memcmp; rare functions go through the services table");
}

/// LLD's messages on one line, without what says which program it is.
static std::string cleanMessages(StringRef text) {
  SmallVector<StringRef> lines;
  text.trim().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef &line : lines)
    line.consume_front("ld.lld: ");
  return join(lines, "; ");
}

Expected<SmallVector<char, 0>> nested::linkSharedObject(ArrayRef<char> object) {
  static std::mutex mutex;
  static bool usable = true;

  SmallString<128> folder;
  if (std::error_code code =
          sys::fs::createUniqueDirectory("nested-link", folder))
    return makeEnvironmentError("cannot create a temporary folder: " +
                                code.message());
  scope_exit removeFolder([&] { (void)sys::fs::remove_directories(folder); });
  SmallString<128> input(folder), output(folder);
  sys::path::append(input, "kernels.o");
  sys::path::append(output, "kernels.so");
  if (Error error = writeFile(input, object))
    return error;

  // The name of the program chooses the kind of linker.
  const char *arguments[] = {
      "ld.lld",          "-shared",          "-Bsymbolic",  "--gc-sections",
      "--build-id=none", "--hash-style=gnu", "--strip-all", "--threads=1",
      "-znow",           "-znoexecstack",    "-o",          output.c_str(),
      input.c_str()};
  std::string messages;
  raw_string_ostream stream(messages);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!usable)
      return makeInternalError("the linker crashed earlier in this process");
    lld::Result result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    usable = result.canRunAgain;
    if (result.retCode != 0)
      return makeInternalError("linking failed: " + cleanMessages(messages));
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(output, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeFileError(output, buffer.getError());
  if (Error error = checkImports((*buffer)->getMemBufferRef()))
    return error;
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
