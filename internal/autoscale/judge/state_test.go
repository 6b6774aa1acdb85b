package judge

import "github.com/firstlight/firstlight/internal/autoscale/snapshottest"

// The healthy chain under short names: the tables are made of them.
var (
	t0      = snapshottest.Began
	at      = snapshottest.At
	life    = snapshottest.Life
	ended   = snapshottest.Ended
	is      = snapshottest.Is
	not     = snapshottest.Not
	ref     = snapshottest.Ref
	setup   = snapshottest.Setup
	until   = snapshottest.Until
	pod     = snapshottest.Pod
	ordered = snapshottest.Ordered
)

const (
	ns   = snapshottest.Namespace
	own  = snapshottest.Pool
	zero = snapshottest.ZeroPool
)
