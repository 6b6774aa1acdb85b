package controller

import "testing"

// The successor of a killed controller is healthy, and is not what was killed.
func TestTheSuccessorOfAControllerIsAnother(t *testing.T) {
	t.Parallel()
	pod := func(uid string) podState {
		return podState{Name: "operator-" + uid, UID: uid, Phase: "Running", Ready: true}
	}
	pods := func(list ...podState) controllerFigures { return controllerFigures{Service: "ns/operator", Pods: list} }
	leaving, unready := pod("b"), pod("b")
	leaving.Leaving, unready.Ready = true, false
	outside := func(l *leaseState) controllerFigures {
		return controllerFigures{Service: "ns/operator", Outside: "host", Lease: l}
	}
	held := func(holder string, moved bool) *leaseState {
		return &leaseState{Name: "lease", Holder: holder, Moved: moved}
	}
	leader := pods(pod("a"), pod("b"))
	leader.Lease = held("operator-a_1", true)
	next, late := pods(pod("b"), pod("c")), pods(pod("b"), pod("c"))
	next.Lease, late.Lease = held("operator-b_2", true), leader.Lease
	for name, tt := range map[string]struct {
		before, after controllerFigures
		successor     bool
	}{
		"another pod":                         {pods(pod("a")), pods(pod("b")), true},
		"the same pod":                        {pods(pod("a")), pods(pod("a")), false},
		"the same pod and another":            {pods(pod("a")), pods(pod("b"), pod("a")), false},
		"a pod that did not hold the lease":   {leader, next, true},
		"pods that do not hold the lease":     {leader, late, false},
		"the pod that held the lease":         {leader, pods(pod("a"), pod("b")), false},
		"a pod that is not ready":             {pods(pod("a")), pods(unready), false},
		"a pod that ends":                     {pods(pod("a")), pods(leaving), false},
		"one of two pods is not ready":        {pods(pod("a")), pods(pod("c"), unready), false},
		"no pod":                              {pods(pod("a")), pods(), false},
		"another holder":                      {outside(held("1", true)), outside(held("2", true)), true},
		"the same holder":                     {outside(held("1", true)), outside(held("1", true)), false},
		"no holder":                           {outside(held("1", true)), outside(held("", true)), false},
		"a holder that did not renew":         {outside(held("1", true)), outside(held("2", false)), false},
		"no lease":                            {outside(held("1", true)), outside(nil), false},
		"no lease before":                     {outside(nil), outside(held("2", true)), false},
		"a lease before, and a pod afterward": {outside(held("1", true)), pods(pod("b")), false},
	} {
		if why := noSuccessor(tt.before, tt.after); (why == "") != tt.successor {
			t.Errorf("%s: %q", name, why)
		}
	}
}
