//===- Boundary.cpp - Functions that hide frames of the package -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boundary.h"

#include <nanobind/stl/string.h>
#include <string>

namespace nb = nanobind;

namespace {

/// What a boundary needs as long as it lives. CPython keeps pointers into it,
/// so it is owned by a capsule that is the function's `self`.
struct Boundary {
  PyObject *function;
  PyObject *trim;
  std::string name;
  std::string doc;
  PyMethodDef definition;
};

constexpr const char *capsuleName = "nested.boundary";

/// Gives the exception that is set to `trim`, which changes its traceback in
/// place.
void trimException(PyObject *trim) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback)
    PyException_SetTraceback(value, traceback);
  PyObject *result = PyObject_CallOneArg(trim, value);
  if (result)
    Py_DECREF(result);
  else
    PyErr_Clear();
  Py_XDECREF(traceback);
  PyErr_Restore(type, value, PyException_GetTraceback(value));
}

PyObject *callBoundary(PyObject *self, PyObject *const *args, Py_ssize_t count,
                       PyObject *names) {
  auto *boundary =
      static_cast<Boundary *>(PyCapsule_GetPointer(self, capsuleName));
  if (!boundary)
    return nullptr;
  PyObject *result = PyObject_Vectorcall(boundary->function, args,
                                         static_cast<size_t>(count), names);
  if (!result)
    trimException(boundary->trim);
  return result;
}

void destroyBoundary(PyObject *capsule) {
  auto *boundary =
      static_cast<Boundary *>(PyCapsule_GetPointer(capsule, capsuleName));
  Py_DECREF(boundary->function);
  Py_DECREF(boundary->trim);
  delete boundary;
}

nb::object makeBoundary(nb::object function, std::string name, std::string doc,
                        nb::object trim) {
  auto *boundary = new Boundary{function.release().ptr(),
                                trim.release().ptr(),
                                std::move(name),
                                std::move(doc),
                                {}};
  auto call =
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callBoundary));
  boundary->definition = {boundary->name.c_str(), call,
                          METH_FASTCALL | METH_KEYWORDS, boundary->doc.c_str()};
  nb::object capsule =
      nb::steal(PyCapsule_New(boundary, capsuleName, destroyBoundary));
  nb::object module = nb::str("nested");
  return nb::steal(
      PyCFunction_NewEx(&boundary->definition, capsule.ptr(), module.ptr()));
}

} // namespace

void bindBoundary(nb::module_ &m) {
  m.def("boundary", &makeBoundary, nb::arg("function"), nb::arg("name"),
        nb::arg("doc"), nb::arg("trim"),
        "A C function that calls a Python function and trims tracebacks of its "
        "errors.");
  m.def(
      "boundary_method",
      [](nb::object function, std::string name, std::string doc,
         nb::object trim) {
        nb::object inner = makeBoundary(std::move(function), std::move(name),
                                        std::move(doc), std::move(trim));
        return nb::steal(PyInstanceMethod_New(inner.ptr()));
      },
      nb::arg("function"), nb::arg("name"), nb::arg("doc"), nb::arg("trim"),
      "The same, for a method of a class.");
}
