package track

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// mostEvents bounds the events kept.
const mostEvents = 5000

// eventBook holds events by their UID.
type eventBook struct {
	rows map[types.UID]snapshot.Event
}

func newEventBook() *eventBook { return &eventBook{rows: map[types.UID]snapshot.Event{}} }

// eventSource watches all events: no selector matches objects that do not exist yet.
// Irrelevant events are dropped.
func (t *Tracker) eventSource() source {
	return source{
		problem: snapshot.ProblemEvents, like: &eventsv1.Event{},
		lw: chosen(t.o.Cluster.Client.EventsV1().RESTClient(), "events", metav1.NamespaceAll, "", ""),
		put: func(o runtime.Object, now time.Time) {
			// Events from before the run are irrelevant.
			if e, ok := o.(*eventsv1.Event); ok && t.settled && t.matters(e.Regarding) {
				t.events.put(e, now)
			}
		},
		gone: func(metav1.Object, time.Time) {}, // expired events are kept
	}
}

// matters reports whether an event may concern the run.
func (t *Tracker) matters(about corev1.ObjectReference) bool {
	switch about.Kind {
	case "NodePool":
		return slices.Contains(t.o.Pools, about.Name)
	case "NodeClaim", "Node":
		return true
	default:
		return about.Namespace == t.o.Namespace && about.Namespace != ""
	}
}

func (b *eventBook) put(e *eventsv1.Event, now time.Time) {
	row, had := b.rows[e.UID]
	if !had && len(b.rows) >= mostEvents {
		b.forget()
	}
	if !had {
		row.First = now
	}
	row.About = snapshot.Ref{Kind: e.Regarding.Kind, Namespace: e.Regarding.Namespace, Name: e.Regarding.Name, UID: string(e.Regarding.UID)}
	row.Type, row.Reason, row.Message = e.Type, e.Reason, e.Note
	row.From = cmp.Or(e.ReportingController, e.DeprecatedSource.Component)
	row.Count = max(1, int(e.DeprecatedCount))
	if e.Series != nil {
		row.Count = int(e.Series.Count)
	}
	b.rows[e.UID] = row
}

// forget drops the older half.
func (b *eventBook) forget() {
	times := make([]time.Time, 0, len(b.rows))
	for _, e := range b.rows {
		times = append(times, e.First)
	}
	slices.SortFunc(times, time.Time.Compare)
	middle := times[len(times)/2]
	for uid, e := range b.rows {
		if !e.First.After(middle) {
			delete(b.rows, uid)
		}
	}
}

// about lists the events about objects with the UIDs, or accepted by owners. Node events
// of the kubelet and the node controller carry the node's name as UID.
func (b *eventBook) about(uids, nodes map[string]string, owners func(snapshot.Ref) bool) []snapshot.Event {
	var out []snapshot.Event
	for _, e := range b.rows {
		if uid, ok := nodes[e.About.Name]; ok && e.About.Kind == "Node" && e.About.UID == e.About.Name {
			e.About.UID = uid
		}
		if _, ok := uids[e.About.UID]; ok || owners(e.About) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(x, y snapshot.Event) int {
		return cmp.Or(x.First.Compare(y.First), cmp.Compare(x.About.Name, y.About.Name), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message))
	})
	return out
}
