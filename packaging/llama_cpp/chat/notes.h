// Included before each source file of llama.cpp: what it would print on stderr and in its log is kept for the caller.

#pragma once

#include <cstdio>
#include <string>
#include <vector>

void skein_note(FILE * stream, const char * format, ...);

std::vector<std::string> skein_take_notes();    // such as a pattern that the grammar leaves out
std::string              skein_take_logged_error();

#define fprintf skein_note
