// What Python may call: plain C functions, the only names that the library shows.
#pragma once

#if defined(_WIN32)
#define SKEWBOOST_API extern "C" __declspec(dllexport)
#else
#define SKEWBOOST_API extern "C" __attribute__((visibility("default")))
#endif
