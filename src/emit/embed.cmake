# The functions of elements as bytes of the program: the beginning of every generated kernel (emit/cpp_kernel).
enable_language(ASM)

set(element_functions ${CMAKE_CURRENT_SOURCE_DIR}/emit/element_functions.hpp)
set(element_functions_file ${CMAKE_CURRENT_BINARY_DIR}/element_functions.S)
file(CONFIGURE OUTPUT ${element_functions_file} @ONLY CONTENT [[
    .section .rodata
    .global tutti_element_functions
    .global tutti_element_functions_end
tutti_element_functions:
    .incbin "@element_functions@"
tutti_element_functions_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
]])
add_library(tutti_element_functions OBJECT ${element_functions_file})
target_sources(tutti_emit PRIVATE $<TARGET_OBJECTS:tutti_element_functions>)
set_source_files_properties(${element_functions_file} PROPERTIES OBJECT_DEPENDS ${element_functions})
