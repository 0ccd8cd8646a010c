// The functions that Python calls: plain C functions, the only symbols that the library exports.
#pragma once

#if defined(_WIN32)
#define SKEWBOOST_API extern "C" __declspec(dllexport)
#else
#define SKEWBOOST_API extern "C" __attribute__((visibility("default")))
#endif
