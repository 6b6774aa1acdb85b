package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
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
			st.Events = append(st.Events, snapshot.Event{About: p.Ref, Reason: "TaintManagerEviction", Message: "Marking for deletion Pod " + p.Name, First: at(deleted)})
		}
	}
	for _, tt := range []struct {
		name, hop string
		change    func(*snapshot.State)
		also      func(*snapshot.State)
		want      check.Verdict
	}{
		{name: "while its nodes register", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: unregistered, want: check.Unobserved},
		{name: "while its nodes become Ready", hop: snapshot.HopReady, change: evict("worker-b", 25.1, 25.4), also: unregistered, want: check.Unobserved},
		{name: "before it runs", hop: snapshot.HopBound, change: evict("worker-b", 25.1, 25.4), want: check.Unobserved},
		{name: "10 s after it was bound", hop: snapshot.HopBound, change: evict("worker-b", 15.4, 25.4), want: check.Unobserved},
		{name: "of a gang", hop: snapshot.HopGangBound, change: evict("gang-1", 63, 63.2), want: check.Unobserved},
		{name: "long after it was bound", hop: snapshot.HopRegistered, change: evict("worker-b", 15.3, 25.4), also: unregistered, want: check.Failed},
		{name: "never bound", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			unregistered(st)
			podNamed(st, "worker-b").BoundAt = time.Time{}
		}, want: check.Failed},
		{name: "from a node with a taint that evicts", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			unregistered(st)
			nodeNamed(st, "node-b").Taints = []string{"example.com/agent-not-ready:NoExecute"}
		}, want: check.Failed},
		{name: "from a node that is deleted", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			unregistered(st)
			nodeNamed(st, "node-b").Deleting = at(25.3)
		}, want: check.Failed},
		{name: "by another", hop: snapshot.HopRegistered, change: evict("worker-b", 25.1, 25.4), also: func(st *snapshot.State) {
			unregistered(st)
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
			if says := strings.Contains(r.Reason, "had not seen the taint's removal"); says != (tt.want == check.Unobserved) || says != r.Final {
				t.Errorf("final %v: %s", r.Final, r.Reason)
			}
		})
	}
}

// unregistered takes the registration of another new node away, so that the hop waits.
func unregistered(st *snapshot.State) {
	claimNamed(st, "node-c").Conditions = nil
	nodeNamed(st, "node-c").Conditions = nil
}
