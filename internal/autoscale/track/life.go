package track

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// lives updates an object's lifetime.
func lives(l *snapshot.Life, o metav1.Object, now time.Time) {
	l.Created = o.GetCreationTimestamp().Time
	if l.First.IsZero() {
		l.First = now
	}
	if o.GetDeletionTimestamp() != nil && l.Deleting.IsZero() {
		l.Deleting = now
	}
}

// named returns the Ref of an object.
func named(kind string, o metav1.Object) snapshot.Ref {
	return snapshot.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
}

// held keeps the first-observed time of conditions with an unchanged status.
func held(had, have []snapshot.Condition, now time.Time) []snapshot.Condition {
	for i := range have {
		have[i].Seen = now
		for _, old := range had {
			if old.Type == have[i].Type && old.Status == have[i].Status {
				have[i].Seen = old.Seen
			}
		}
	}
	return have
}
