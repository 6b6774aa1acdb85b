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
// Events of objects that are known not to be the run's are dropped.
func (t *Tracker) eventSource() source {
	return source{
		problem: snapshot.ProblemEvents, like: &eventsv1.Event{},
		lw: chosen(t.o.Cluster.Client.EventsV1().RESTClient(), "events", metav1.NamespaceAll, "", ""),
		put: func(o runtime.Object, now time.Time) {
			// Events from before the run are irrelevant.
			if e, ok := o.(*eventsv1.Event); ok && t.settled {
				t.putEvent(e, now)
			}
		},
		gone: func(metav1.Object, time.Time) {}, // expired events are kept
	}
}

// putEvent keeps an event unless its object is another's. An object may become known after its
// event: a full book first drops the events whose objects turned out to be others'.
func (t *Tracker) putEvent(e *eventsv1.Event, now time.Time) {
	if _, owner := t.identify(refOf(e.Regarding)); owner == other {
		return
	}
	if len(t.events.rows) >= mostEvents {
		t.events.forget(func(about snapshot.Ref) owner { _, owner := t.identify(about); return owner })
	}
	t.events.put(e, now)
}

func refOf(about corev1.ObjectReference) snapshot.Ref {
	return snapshot.Ref{Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: string(about.UID)}
}

// owner is whose an object is.
type owner int

const (
	unknown owner = iota // not observed yet
	other
	run
)

// identify returns the UID of an event's object, and whose it is. Node events of the kubelet and
// the node controller have the node's name as UID.
func (t *Tracker) identify(about snapshot.Ref) (uid string, whose owner) {
	switch about.Kind {
	case "NodePool":
		if t.pools.rows[types.UID(about.UID)] != nil {
			return about.UID, run
		}
		return about.UID, known(!slices.Contains(t.o.Pools, about.Name))
	case "NodeClaim":
		if c := t.claims.rows[types.UID(about.UID)]; c != nil {
			return about.UID, ownerOf(c.Ours)
		}
		return about.UID, known(t.oldClaims[types.UID(about.UID)])
	case "Node":
		return t.identifyNode(about)
	case "Pod", "HorizontalPodAutoscaler":
		uid := types.UID(about.UID)
		switch {
		case about.Namespace != t.o.Namespace:
			return about.UID, other
		case t.pods.rows[uid] != nil || t.hpas.rows[uid] != nil:
			return about.UID, run
		}
		return about.UID, unknown
	default:
		return about.UID, ownerOf(about.Namespace == t.o.Namespace && about.Namespace != "" && makesPods(about))
	}
}

func (t *Tracker) identifyNode(about snapshot.Ref) (uid string, whose owner) {
	var newest *snapshot.Node
	for _, n := range t.nodes.rows {
		if n.UID == about.UID || n.Name == about.Name && about.UID == about.Name && (newest == nil || n.First.After(newest.First)) {
			newest = n
		}
	}
	if newest != nil {
		return newest.UID, ownerOf(newest.Ours)
	}
	for _, n := range t.before {
		if n.UID == about.UID || n.Name == about.Name && about.UID == about.Name {
			return about.UID, other
		}
	}
	return about.UID, unknown
}

func ownerOf(ours bool) owner {
	if ours {
		return run
	}
	return other
}

// known is the owner of an object that is not the run's, if it is known.
func known(others bool) owner {
	if others {
		return other
	}
	return unknown
}

func (b *eventBook) put(e *eventsv1.Event, now time.Time) {
	row, had := b.rows[e.UID]
	if !had {
		row.First = now
	}
	row.About = refOf(e.Regarding)
	row.Type, row.Reason, row.Message = e.Type, e.Reason, e.Note
	row.From = cmp.Or(e.ReportingController, e.DeprecatedSource.Component)
	row.Count = max(1, int(e.DeprecatedCount))
	if e.Series != nil {
		row.Count = int(e.Series.Count)
	}
	b.rows[e.UID] = row
}

// forget drops the events of others; then, if the book is still more than half full, the older
// half of those of unknown objects; only then the older half of the run's.
func (b *eventBook) forget(whose func(snapshot.Ref) owner) {
	owners := map[types.UID]owner{}
	for uid, e := range b.rows {
		if owners[uid] = whose(e.About); owners[uid] == other {
			delete(b.rows, uid)
		}
	}
	for _, o := range []owner{unknown, run} {
		if len(b.rows) > mostEvents/2 {
			b.halve(func(uid types.UID) bool { return owners[uid] == o })
		}
	}
}

// halve drops the older half of some events.
func (b *eventBook) halve(of func(types.UID) bool) {
	var times []time.Time
	for uid, e := range b.rows {
		if of(uid) {
			times = append(times, e.First)
		}
	}
	if len(times) == 0 {
		return
	}
	slices.SortFunc(times, time.Time.Compare)
	middle := times[len(times)/2]
	for uid, e := range b.rows {
		if of(uid) && !e.First.After(middle) {
			delete(b.rows, uid)
		}
	}
}
