# The Python that tests, scripts and the extension module use: the one of .venv
# (made by scripts/setup) unless -DPython_EXECUTABLE names another.

if(NOT Python_EXECUTABLE AND EXISTS "${CMAKE_SOURCE_DIR}/.venv/bin/python3")
  set(Python_EXECUTABLE "${CMAKE_SOURCE_DIR}/.venv/bin/python3")
endif()
set(Python_FIND_VIRTUALENV FIRST)
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
set(NESTED_PYTHON "${Python_EXECUTABLE}")

# nanobind is a pip package that carries its CMake files.
set(NESTED_HAVE_NANOBIND OFF)
if(NESTED_ENABLE_PYTHON AND Python_Development.Module_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                  OUTPUT_VARIABLE nanobind_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE nanobind_missing ERROR_QUIET)
  if(nanobind_missing EQUAL 0)
    set(NESTED_HAVE_NANOBIND ON)
    set(nanobind_ROOT "${nanobind_dir}")
  endif()
endif()
if(NESTED_ENABLE_PYTHON AND NOT NESTED_HAVE_NANOBIND)
  message(STATUS "No Python headers or no nanobind: the extension module is not built "
                 "(scripts/setup installs both)")
endif()
