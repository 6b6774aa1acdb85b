// Package infiniband parses the output of the InfiniBand tools: ibstat, iblinkinfo -l,
// ibdiagnet2, ibqueryerrors, sminfo, ibv_devinfo, and the P_Key tables of sysfs.
//
// A record is complete or the input is an error: a missing field means truncated
// output. ibstat GUIDs are normalised to 0x and sixteen lower-case digits. The exit
// codes of these tools carry no information, so only the output counts. No parser
// panics, and no parser judges what it reads.
package infiniband
