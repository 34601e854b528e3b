// A module as another version of tutti would have built it.

extern "C" const char* tutti_open_backend(const char* interface, void* opened);

extern "C" const char* tutti_open_backend(const char* /*interface*/, void* /*opened*/) {
    return "an old interface";
}
