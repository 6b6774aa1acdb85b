// Package roce is gate 2 of a RoCE fabric: every port of every host up at its rate, with the MTU, the
// GID, the priority flow control and the ECN that RDMA traffic needs, and no growing error counter
// over a soak.
//
// It observes hosts only: a switch that drops or does not mark packets shows in the hosts' counters.
package roce
