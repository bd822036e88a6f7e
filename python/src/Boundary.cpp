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

/// What a boundary needs as long as it lives. CPython keeps pointers into it.
struct Boundary {
  PyObject *function;
  PyObject *trim;
  std::string name;
  std::string doc;
  PyMethodDef definition;
};

/// The `self` of a boundary is a module of its own, which owns it: `help` then
/// shows a function and not a method.
Boundary *&boundaryOf(PyObject *module) {
  return *static_cast<Boundary **>(PyModule_GetState(module));
}

void destroyBoundary(void *module) {
  Boundary *boundary = boundaryOf(static_cast<PyObject *>(module));
  if (!boundary)
    return;
  Py_DECREF(boundary->function);
  Py_DECREF(boundary->trim);
  delete boundary;
}

PyModuleDef owner = {PyModuleDef_HEAD_INIT,
                     "nested",
                     nullptr,
                     sizeof(Boundary *),
                     nullptr,
                     nullptr,
                     nullptr,
                     nullptr,
                     destroyBoundary};

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
  Boundary *boundary = boundaryOf(self);
  PyObject *result = PyObject_Vectorcall(boundary->function, args,
                                         static_cast<size_t>(count), names);
  if (!result)
    trimException(boundary->trim);
  return result;
}

nb::object makeBoundary(nb::object function, std::string name, std::string doc,
                        nb::object trim) {
  nb::object module = nb::steal(PyModule_Create(&owner));
  if (!module.is_valid())
    throw nb::python_error();
  auto *boundary = new Boundary{function.release().ptr(),
                                trim.release().ptr(),
                                std::move(name),
                                std::move(doc),
                                {}};
  boundaryOf(module.ptr()) = boundary;
  auto call =
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callBoundary));
  boundary->definition = {boundary->name.c_str(), call,
                          METH_FASTCALL | METH_KEYWORDS, boundary->doc.c_str()};
  nb::object where = nb::str("nested");
  return nb::steal(
      PyCFunction_NewEx(&boundary->definition, module.ptr(), where.ptr()));
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
