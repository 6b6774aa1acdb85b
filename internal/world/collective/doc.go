// Package collective simulates nccl-tests: a cost model of collectives over NVLink, NVLS and the
// rails, and the output of its programs and of NCCL_DEBUG=INFO.
//
// It owns output and exit code of a run on given nodes and is a pure function of Run: equal Runs
// write equal bytes.
//
// It depends neither on Kubernetes nor on wall time or expected figures.
package collective
