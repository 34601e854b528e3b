// A shared library that has the name of a module and is none.

extern "C" int something_else();

extern "C" int something_else() { return 0; }
