// example INSTANCE METHOD: a program outside of tutti's tree that uses an installed tutti.

#include <tutti.hpp>

#include <exception>
#include <iostream>

int main(int, char** arguments) try {
    const tutti::Instance instance = tutti::io::read_instance(arguments[1]);
    tutti::synth::Request request;
    request.method = arguments[2];
    const tutti::synth::Result result = tutti::synth::synthesize(instance, request);
    const tutti::Verdict verdict = tutti::verify::verify(instance, result.schedule);
    std::cout << "makespan " << result.schedule.makespan.count() << ", bound " << result.bound.value.count();
    for (const auto& [solver, version] : result.solver_versions) std::cout << ", solver " << solver;
    std::cout << (verdict.valid() ? ", valid\n" : ", not valid\n");
    return verdict.valid() ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
