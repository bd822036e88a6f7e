//===- Npz.cpp - Files of NumPy arrays ------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npz.h"
#include "Failure.h"
#include "Files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <zlib.h>

using namespace nested::run;

int64_t NpyArray::size() const {
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  return size;
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

namespace {
/// The header of an .npy: a Python dict with three keys.
class HeaderParser {
public:
  HeaderParser(const std::string &text, const std::string &name,
               NpyArray &array)
      : text(text), name(name), array(array) {}

  void parse() {
    expect('{');
    bool descr = false, order = false, shape = false;
    while (!consume('}')) {
      std::string key = parseString();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        parseDescr(parseString());
      } else if (key == "fortran_order" && !order) {
        order = true;
        array.fortranOrder = parseBool();
      } else if (key == "shape" && !shape) {
        shape = true;
        parseShape();
      } else {
        error("unexpected key '" + key + "'");
      }
      if (!consume(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape)
      error("an incomplete header");
  }

private:
  [[noreturn]] void error(const std::string &what) {
    fail(UserError, name + ": not an .npy array: " + what);
  }
  void skipSpace() {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\n'))
      ++pos;
  }
  bool consume(char c) {
    skipSpace();
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }
  void expect(char c) {
    if (!consume(c))
      error(std::string("expected '") + c + "' in the header");
  }
  std::string parseString() {
    skipSpace();
    if (pos >= text.size() || (text[pos] != '\'' && text[pos] != '"'))
      error("expected a string in the header (a type with fields?)");
    char quote = text[pos++];
    size_t end = text.find(quote, pos);
    if (end == std::string::npos)
      error("a string without end");
    std::string result = text.substr(pos, end - pos);
    pos = end + 1;
    return result;
  }
  bool parseBool() {
    skipSpace();
    for (bool value : {false, true}) {
      std::string word = value ? "True" : "False";
      if (text.compare(pos, word.size(), word) == 0) {
        pos += word.size();
        return value;
      }
    }
    error("expected True or False");
  }
  void parseShape() {
    expect('(');
    while (!consume(')')) {
      skipSpace();
      int64_t n;
      auto [end, status] =
          std::from_chars(text.data() + pos, text.data() + text.size(), n);
      if (status != std::errc() || n < 0 || array.shape.size() >= 32)
        error("a bad shape");
      pos = static_cast<size_t>(end - text.data());
      array.shape.push_back(n);
      if (!consume(',')) {
        expect(')');
        break;
      }
    }
  }
  void parseDescr(const std::string &descr) {
    if (descr.size() < 3 || !std::strchr("<|=>", descr[0]))
      error("unknown type '" + descr + "'");
    array.kind = descr[1];
    auto [end, status] = std::from_chars(
        descr.data() + 2, descr.data() + descr.size(), array.itemBytes);
    if (status != std::errc() || end != descr.data() + descr.size() ||
        !std::strchr("fiubV", array.kind) || array.itemBytes < 1 ||
        array.itemBytes > 8)
      error("numbers of type '" + descr + "' are not supported");
    if (descr[0] == '>' && array.itemBytes > 1)
      error("big-endian numbers ('" + descr + "') are not supported");
  }

  const std::string &text;
  const std::string &name;
  NpyArray &array;
  size_t pos = 0;
};
} // namespace

NpyArray nested::run::parseNpy(const std::string &bytes,
                               const std::string &name) {
  auto error = [&](const char *what) {
    fail(UserError, name + ": not an .npy array: " + what);
  };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    error("it does not begin with \\x93NUMPY");
  auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[i]));
  };
  size_t major = byte(6), begin = 10, length = byte(8) | byte(9) << 8;
  if (major == 2 || major == 3) {
    if (bytes.size() < 12)
      error("it is cut off");
    begin = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  } else if (major != 1) {
    error("unknown version");
  }
  if (length > bytes.size() - begin)
    error("the header is cut off");
  NpyArray array;
  std::string header = bytes.substr(begin, length);
  HeaderParser(header, name, array).parse();
  int64_t size = array.itemBytes;
  for (int64_t n : array.shape)
    if (__builtin_mul_overflow(size, n, &size))
      error("its shape overflows 64 bits");
  if (static_cast<uint64_t>(size) != bytes.size() - begin - length)
    error("its shape and its number of bytes disagree");
  array.bytes.assign(bytes.begin() + static_cast<ptrdiff_t>(begin + length),
                     bytes.end());
  return array;
}

std::string nested::run::formatNpyHeader(const NpyArray &array) {
  std::string shape;
  for (int64_t n : array.shape)
    shape += std::to_string(n) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string dict = "{'descr': '";
  dict += array.itemBytes == 1 || array.kind == 'V' ? '|' : '<';
  dict += array.kind + std::to_string(array.itemBytes) +
          "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data begin at a multiple of 64.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

/// Without the special case of crc32, for which null means "start again".
static uint64_t updateCrc(uint64_t crc, const char *data, size_t bytes) {
  return bytes ? crc32_z(crc, reinterpret_cast<const Bytef *>(data), bytes)
               : crc;
}

//===----------------------------------------------------------------------===//
// Reading a zip
//===----------------------------------------------------------------------===//

namespace {
/// Little-endian numbers in a block of bytes, bounds checked.
class Reader {
public:
  Reader(const std::string &bytes, const std::string &path)
      : bytes(bytes), path(path) {}
  uint64_t get(uint64_t at, int count) const {
    if (at > bytes.size() || bytes.size() - at < static_cast<uint64_t>(count))
      fail(UserError, path + ": damaged zip archive");
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  }
  std::string text(uint64_t at, uint64_t length) const {
    if (at > bytes.size() || bytes.size() - at < length)
      fail(UserError, path + ": damaged zip archive");
    return bytes.substr(at, length);
  }

private:
  const std::string &bytes;
  const std::string &path;
};

struct Member {
  std::string name;
  uint64_t method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

class ZipReader {
public:
  explicit ZipReader(const std::string &path)
      : path(path), file(path, "rb", path), fileSize(file.size()) {}

  NpzFile read() {
    NpzFile arrays;
    for (const Member &member : directory()) {
      std::string name = member.name;
      if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
        name.resize(name.size() - 4);
      NpyArray array = parseNpy(extract(member), path + ": '" + name + "'");
      if (!arrays.emplace(name, std::move(array)).second)
        damaged("'" + name + "' twice");
    }
    return arrays;
  }

private:
  [[noreturn]] void damaged(const std::string &what) {
    fail(UserError, path + ": not an .npz file: " + what);
  }

  std::string block(uint64_t offset, uint64_t bytes) {
    if (offset > fileSize || fileSize - offset < bytes)
      damaged("it is cut off");
    std::string result(bytes, '\0');
    file.read(offset, result.data(), bytes);
    return result;
  }

  std::vector<Member> directory() {
    // The end record is the last thing in the file, before a comment.
    uint64_t tail = std::min<uint64_t>(fileSize, 22 + 65535);
    std::string text = block(fileSize - tail, tail);
    size_t at = text.rfind("PK\x05\x06");
    if (at == std::string::npos || text.size() - at < 22)
      damaged("no zip directory");
    Reader end(text, path);
    uint64_t count = end.get(at + 10, 2), bytes = end.get(at + 12, 4),
             offset = end.get(at + 16, 4);
    if (count == 0xFFFF || bytes == 0xFFFFFFFF || offset == 0xFFFFFFFF) {
      if (at < 20 || text.compare(at - 20, 4, "PK\x06\x07") != 0)
        damaged("no zip64 directory");
      std::string record = block(end.get(at - 20 + 8, 8), 56);
      Reader end64(record, path);
      if (end64.get(0, 4) != 0x06064b50)
        damaged("no zip64 directory");
      count = end64.get(32, 8);
      bytes = end64.get(40, 8);
      offset = end64.get(48, 8);
    }
    if (count > bytes / 46)
      damaged("a wrong number of members");
    std::string list = block(offset, bytes);
    Reader reader(list, path);
    std::vector<Member> members;
    uint64_t pos = 0;
    for (uint64_t i = 0; i < count; ++i)
      members.push_back(parseMember(reader, pos));
    return members;
  }

  Member parseMember(const Reader &reader, uint64_t &pos) {
    if (reader.get(pos, 4) != 0x02014b50)
      damaged("a bad directory");
    Member member;
    if (reader.get(pos + 8, 2) & 1)
      damaged("it is encrypted");
    member.method = reader.get(pos + 10, 2);
    member.crc = reader.get(pos + 16, 4);
    member.packed = reader.get(pos + 20, 4);
    member.size = reader.get(pos + 24, 4);
    uint64_t nameLength = reader.get(pos + 28, 2),
             extraLength = reader.get(pos + 30, 2),
             commentLength = reader.get(pos + 32, 2);
    member.offset = reader.get(pos + 42, 4);
    member.name = reader.text(pos + 46, nameLength);
    // The zip64 extra has those of the sizes that did not fit, in this order.
    uint64_t extra = pos + 46 + nameLength, end = extra + extraLength;
    while (extra + 4 <= end) {
      uint64_t id = reader.get(extra, 2), length = reader.get(extra + 2, 2);
      uint64_t field = extra + 4;
      for (uint64_t *value : {&member.size, &member.packed, &member.offset})
        if (id == 1 && *value == 0xFFFFFFFF &&
            field + 8 <= extra + 4 + length) {
          *value = reader.get(field, 8);
          field += 8;
        }
      extra += 4 + length;
    }
    pos = end + commentLength;
    return member;
  }

  std::string extract(const Member &member) {
    std::string local = block(member.offset, 30);
    Reader reader(local, path);
    if (reader.get(0, 4) != 0x04034b50)
      damaged("no member '" + member.name + "' where the directory says");
    uint64_t begin = member.offset + 30 + reader.get(26, 2) + reader.get(28, 2);
    // Checked against the file before memory is made for it; a byte of deflate
    // becomes 1032 at most.
    uint64_t most =
        member.method == 0 ? member.packed : (member.packed + 64) * 1032;
    if (begin > fileSize || fileSize - begin < member.packed ||
        member.size > most)
      damaged("the sizes of '" + member.name + "' are wrong");
    std::string packed = block(begin, member.packed);
    std::string result;
    if (member.method == 0) {
      if (member.packed != member.size)
        damaged("the sizes of '" + member.name + "' are wrong");
      result = std::move(packed);
    } else if (member.method == 8) {
      result = inflateAll(packed, member);
    } else {
      damaged("'" + member.name + "' is compressed in an unknown way");
    }
    uint64_t crc = updateCrc(0, result.data(), result.size());
    if (crc != member.crc)
      damaged("the checksum of '" + member.name + "' is wrong");
    return result;
  }

  std::string inflateAll(const std::string &packed, const Member &member) {
    std::string result(member.size, '\0');
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      fail(InternalError, "zlib does not work");
    size_t in = 0, out = 0;
    int status = Z_OK;
    // zlib counts in 32 bits, so in pieces.
    while (status == Z_OK) {
      auto inPiece = std::min<size_t>(packed.size() - in, 1u << 30);
      auto outPiece = std::min<size_t>(result.size() - out, 1u << 30);
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + in));
      stream.avail_in = static_cast<uInt>(inPiece);
      stream.next_out = reinterpret_cast<Bytef *>(result.data() + out);
      stream.avail_out = static_cast<uInt>(outPiece);
      status = inflate(&stream, Z_NO_FLUSH);
      in += inPiece - stream.avail_in;
      out += outPiece - stream.avail_out;
      if (status == Z_OK && inPiece == stream.avail_in &&
          outPiece == stream.avail_out)
        break; // No progress.
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || out != result.size())
      damaged("'" + member.name + "' cannot be decompressed");
    return result;
  }

  std::string path;
  File file;
  uint64_t fileSize;
};
} // namespace

NpzFile nested::run::readNpz(const std::string &path) {
  return ZipReader(path).read();
}

//===----------------------------------------------------------------------===//
// Writing a zip
//===----------------------------------------------------------------------===//

static void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// The fields that a local header and the directory share.
static std::string zipFields(const std::string &name, uint64_t crc,
                             uint64_t size, size_t extraLength) {
  bool big = size >= 0xFFFFFFFF;
  std::string out;
  put(out, big ? 45 : 20, 2); // Version that can read it.
  put(out, 0x0800, 2);        // Names are UTF-8.
  put(out, 0, 2);             // Stored.
  put(out, 0x00210000, 4);    // 1 January 1980: same bytes every time.
  put(out, crc, 4);
  put(out, big ? 0xFFFFFFFF : size, 4);
  put(out, big ? 0xFFFFFFFF : size, 4);
  put(out, name.size(), 2);
  put(out, extraLength, 2);
  return out;
}

void nested::run::writeNpz(const std::string &path, const NpzFile &arrays) {
  PendingFile file(path);
  std::string directory;
  uint64_t count = 0;
  for (const auto &[key, array] : arrays) {
    std::string name = key + ".npy", header = formatNpyHeader(array);
    uint64_t size = header.size() + array.bytes.size(), offset = file.offset;
    uint64_t crc = updateCrc(0, header.data(), header.size());
    crc = updateCrc(crc, array.bytes.data(), array.bytes.size());
    bool bigSize = size >= 0xFFFFFFFF, bigOffset = offset >= 0xFFFFFFFF;
    std::string localExtra, extra;
    if (bigSize) {
      put(localExtra, 1, 2);
      put(localExtra, 16, 2);
      put(localExtra, size, 8);
      put(localExtra, size, 8);
    }
    if (bigSize || bigOffset) {
      put(extra, 1, 2);
      put(extra, (bigSize ? 16 : 0) + (bigOffset ? 8 : 0), 2);
      for (int i = 0; bigSize && i < 2; ++i)
        put(extra, size, 8);
      if (bigOffset)
        put(extra, offset, 8);
    }
    file.write("PK\x03\x04" + zipFields(name, crc, size, localExtra.size()) +
               name + localExtra + header);
    file.write(array.bytes.data(), array.bytes.size());

    directory += "PK\x01\x02";
    put(directory, 45, 2); // Version that made it.
    directory += zipFields(name, crc, size, extra.size());
    put(directory, 0, 2); // Comment length.
    put(directory, 0, 2); // Disk.
    put(directory, 0, 2); // Internal attributes.
    put(directory, 0, 4); // External attributes.
    put(directory, bigOffset ? 0xFFFFFFFF : offset, 4);
    directory += name + extra;
    ++count;
  }
  uint64_t begin = file.offset;
  file.write(directory);
  std::string end;
  if (count >= 0xFFFF || begin >= 0xFFFFFFFF ||
      directory.size() >= 0xFFFFFFFF) {
    uint64_t at = file.offset;
    end += "PK\x06\x06";
    put(end, 44, 8);
    put(end, 45, 2);
    put(end, 45, 2);
    put(end, 0, 8);
    put(end, count, 8);
    put(end, count, 8);
    put(end, directory.size(), 8);
    put(end, begin, 8);
    end += "PK\x06\x07";
    put(end, 0, 4);
    put(end, at, 8);
    put(end, 1, 4);
  }
  end += "PK\x05\x06";
  put(end, 0, 4);
  put(end, std::min<uint64_t>(count, 0xFFFF), 2);
  put(end, std::min<uint64_t>(count, 0xFFFF), 2);
  put(end, std::min<uint64_t>(directory.size(), 0xFFFFFFFF), 4);
  put(end, std::min<uint64_t>(begin, 0xFFFFFFFF), 4);
  put(end, 0, 2);
  file.write(end);
  file.commit();
}
