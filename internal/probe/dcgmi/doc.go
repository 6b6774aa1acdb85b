// Package dcgmi reads what dcgmi diag -j prints, in the documents of DCGM 3 and
// of DCGM 4, and knows what dcgmi's exit codes mean.
//
// Invariants: a status is one of five words or the input is an error; a test
// without results has not run; nothing panics. Which tests are required, and
// that Skip is no pass, is for whoever judges.
package dcgmi
