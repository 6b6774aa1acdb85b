package judge

import "github.com/firstlight/firstlight/internal/autoscale/seentest"

// The healthy chain under short names: the tables are made of them.
var (
	t0      = seentest.Began
	at      = seentest.At
	life    = seentest.Life
	ended   = seentest.Ended
	is      = seentest.Is
	not     = seentest.Not
	ref     = seentest.Ref
	setup   = seentest.Setup
	until   = seentest.Until
	pod     = seentest.Pod
	ordered = seentest.Ordered
)

const (
	ns   = seentest.Namespace
	own  = seentest.Pool
	zero = seentest.ZeroPool
)
