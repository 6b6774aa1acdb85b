// Package host simulates the commands of a login on a host: nvidia-smi, dcgmi, ibstat, sminfo,
// iblinkinfo, ibqueryerrors, ibdiagnet, dmesg, lspci and a few small commands. They print what the real
// tools print for the host's state.
//
// A tool is a pure function of a world.State, the host's name and its arguments. Its only clock is
// the state's. Unknown commands exit with 127 as in a shell. The package shares no code with the
// parsers of these formats.
package host
