package judge

import (
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/suite"
)

// A new pod was bound to its node and evicted at once, since kube-controller-manager had not seen
// that Karpenter removed the taint of the unregistered node. One in a hundred pods on a loaded
// machine; the chain then waited for a node of the pod's replacement, and failed.
func TestAnEvictionByLagProvesNothing(t *testing.T) {
	t.Parallel()
	evict := func(name string, bound, deleted float64) func(*snapshot.State) {
		return func(st *snapshot.State) {
			p := podNamed(st, name)
			p.BoundAt, p.Deleting, p.Deleted = at(bound), at(deleted), at(deleted)
			nodeNamed(st, p.Node).Untainted = at(bound)
			st.Events = append(st.Events, snapshot.Event{About: p.Ref, Reason: "TaintManagerEviction", Message: "Marking for deletion Pod " + p.Name, First: at(deleted)})
		}
	}
	for _, tt := range []struct {
		name, hop string
		change    func(*snapshot.State)
		also      func(*snapshot.State)
		want      check.Verdict
	}{
		{name: "while its nodes register", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: replaced, want: check.Unobserved},
		{name: "while its nodes become Ready", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: replaced, want: check.Unobserved},
		{name: "before it runs", hop: snapshot.HopBound, change: evict("worker-b", 25.1, 25.4), want: check.Unobserved},
		{name: "10 s after it was bound", hop: snapshot.HopBound, change: evict("worker-b", 15.4, 25.4), want: check.Unobserved},
		{name: "of a gang", hop: snapshot.HopGangBound, change: evict("gang-1", 63, 63.2), want: check.Unobserved},
		{name: "long after it was bound", hop: snapshot.HopRegistered, change: evict("worker-b", 15.3, 25.4), also: replaced, want: check.Failed},
		{name: "never bound", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			podNamed(st, "worker-b").BoundAt = time.Time{}
		}, want: check.Failed},
		{name: "from a node with a taint that evicts", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			nodeNamed(st, "node-b").Taints = []string{"example.com/agent-not-ready:NoExecute"}
		}, want: check.Failed},
		{name: "from a node whose taint came after the binding", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			nodeNamed(st, "node-b").Untainted = at(26.2)
		}, want: check.Failed},
		{name: "from a node that never had a taint", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			nodeNamed(st, "node-b").Untainted = time.Time{}
		}, want: check.Failed},
		{name: "its replacement is on its node, and the claim for the replacement is removed empty", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: replacedWithClaim, want: check.Unobserved},
		{name: "by another, with a claim for the replacement", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replacedWithClaim(st)
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.Reason == "TaintManagerEviction" })
		}, want: check.Failed},
		{name: "its replacement waits, and the claim for it is removed", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replacedWithClaim(st)
			podNamed(st, "worker-d").Node = ""
		}, want: check.Failed},
		{name: "its replacement is on the claim's node, which is removed", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replacedWithClaim(st)
			podNamed(st, "worker-d").Node = "node-d"
		}, want: check.Failed},
		{name: "the claim for its replacement never registers", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replacedWithClaim(st)
			st.Claims[len(st.Claims)-1].Conditions = nil
		}, want: check.Failed},
		{name: "while another pod is on a wrong node", hop: snapshot.HopBound, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			podNamed(st, "worker-c").Node = "node-a"
		}, want: check.Failed},
		{name: "an eviction that was cancelled", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			st.Events[len(st.Events)-1].Message = "Cancelling deletion of Pod worker-b"
		}, want: check.Failed},
		{name: "from a node that is deleted", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			nodeNamed(st, "node-b").Deleting = at(25.3)
		}, want: check.Failed},
		{name: "by another", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			replaced(st)
			st.Events[len(st.Events)-1].Reason = "Preempted"
		}, want: check.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := until(phaseOf(t, tt.hop))
			tt.change(&st)
			if tt.also != nil {
				tt.also(&st)
			}
			r := Hop(tt.hop, setup(), st)
			if r.Verdict != tt.want {
				t.Fatalf("%s: %s", r.Verdict, r.Reason)
			}
			if says := suite.Stalled(r.Reason); says != (tt.want == check.Unobserved) || (says && tt.hop != snapshot.HopGangBound) != (r.Final && says) {
				t.Errorf("final %v: %s", r.Final, r.Reason)
			}
		})
	}
}

// replaced adds the pod that replaces an evicted one, on its node: no claim is for it, so that the hop waits.
func replaced(st *snapshot.State) {
	st.Pods = append(st.Pods, pod(snapshot.RoleWorker, "worker-d", "node-b", 25.5, 0))
}

// replacedWithClaim adds the pod that replaces an evicted one, on its node, and the claim that Karpenter made for it
// before it was bound, and removed since its node stayed empty.
func replacedWithClaim(st *snapshot.State) {
	replaced(st)
	c := *claimNamed(st, "node-b")
	c.Name, c.UID, c.Node, c.ProviderID, c.Created, c.First, c.Deleting, c.Deleted = "node-d", "uid-node-d", "node-d", "kwok://node-d", at(25.6), at(25.7), at(29), at(30)
	st.Claims = append(st.Claims, c)
	st.Events = append(st.Events, snapshot.Event{About: podNamed(st, "worker-d").Ref, Reason: "Nominated", From: "karpenter", Message: "Pod should schedule on: nodeclaim/node-d", First: at(25.7)})
}
