# The page's files as bytes of the program, so that it needs none of them where it runs: an assembler file that includes them, which takes no time to
# compile. page_parts.hpp declares the symbols. Without the charts (scripts/setup could not bring them) that part is empty, and pages say so.
enable_language(ASM)

set(page_dir ${CMAKE_CURRENT_SOURCE_DIR}/report/page)
file(GLOB page_styles CONFIGURE_DEPENDS ${page_dir}/*.css)
file(GLOB page_scripts CONFIGURE_DEPENDS ${page_dir}/*.js)
set(page_charts ${PROJECT_SOURCE_DIR}/build/deps/echarts/echarts.min.js)
if(NOT EXISTS ${page_charts})
  message(STATUS "Report pages: no charts (scripts/setup brings ECharts)")
  set(page_charts)
endif()

set(embedded_text "    .section .rodata\n")
# embed(NAME FILES…): the files one after the other, a newline behind each.
function(embed name)
  string(APPEND embedded_text "    .global tutti_page_${name}\n    .global tutti_page_${name}_end\ntutti_page_${name}:\n")
  foreach(file IN LISTS ARGN)
    string(APPEND embedded_text "    .incbin \"${file}\"\n    .byte 10\n")
  endforeach()
  string(APPEND embedded_text "tutti_page_${name}_end:\n    .byte 0\n")
  set(embedded_text "${embedded_text}" PARENT_SCOPE)
endfunction()
embed(html ${page_dir}/index.html)
embed(style ${page_styles})
embed(script ${page_scripts})
embed(charts ${page_charts})
set(timeline_dir ${CMAKE_CURRENT_SOURCE_DIR}/report/timeline_page)
embed(timeline_html ${timeline_dir}/index.html)
embed(timeline_style ${timeline_dir}/style.css)
embed(timeline_script ${timeline_dir}/timeline.js)
string(APPEND embedded_text "    .section .note.GNU-stack,\"\",%progbits\n")

set(embedded_file ${CMAKE_CURRENT_BINARY_DIR}/page_parts.S)
file(CONFIGURE OUTPUT ${embedded_file} CONTENT "${embedded_text}" @ONLY)
add_library(tutti_page_parts OBJECT ${embedded_file})  # apart: the warnings of C++ mean nothing to an assembler
target_sources(tutti_report PRIVATE $<TARGET_OBJECTS:tutti_page_parts>)
set_source_files_properties(${embedded_file} PROPERTIES
  OBJECT_DEPENDS "${page_dir}/index.html;${page_styles};${page_scripts};${page_charts};${timeline_dir}/index.html;${timeline_dir}/style.css;${timeline_dir}/timeline.js")
