package track

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// book holds objects of one kind by UID, including deleted ones.
type book[T any] struct {
	rows map[types.UID]*T
	life func(*T) *snapshot.Life
	ref  func(*T) snapshot.Ref
	// others reports whether a row is not the run's; nil: every row is the run's.
	others func(*T) bool
}

// mostRows bounds a book; the oldest deleted objects of others are dropped first, then those of
// the run.
const mostRows = 2000

func newBook[T any](life func(*T) *snapshot.Life, ref func(*T) snapshot.Ref) *book[T] {
	return &book[T]{rows: map[types.UID]*T{}, life: life, ref: ref}
}

// put updates or creates the row of an object.
func (b *book[T]) put(uid types.UID, change func(row *T)) {
	row := b.rows[uid]
	if row == nil {
		b.forget()
		row = new(T)
		b.rows[uid] = row
	}
	change(row)
}

// gone marks an object as deleted.
func (b *book[T]) gone(uid types.UID, now time.Time) {
	if row := b.rows[uid]; row != nil && b.life(row).Deleted.IsZero() {
		b.life(row).Deleted = now
	}
}

// forget drops the oldest deleted row of a full book.
func (b *book[T]) forget() {
	if len(b.rows) < mostRows {
		return
	}
	var oldest types.UID
	var at time.Time
	others := false
	for uid, row := range b.rows {
		l, theirs := b.life(row), b.others != nil && b.others(row)
		if l.Gone() && (oldest == "" || theirs && !others || theirs == others && l.Deleted.Before(at)) {
			oldest, at, others = uid, l.Deleted, theirs
		}
	}
	delete(b.rows, oldest)
}

// list copies the rows for which keep is true, in order of observation.
func (b *book[T]) list(keep func(*T) bool) []T {
	var out []T
	for _, row := range b.rows {
		if keep == nil || keep(row) {
			out = append(out, *row)
		}
	}
	slices.SortFunc(out, func(x, y T) int {
		a, c := b.ref(&x), b.ref(&y)
		return cmp.Or(b.life(&x).First.Compare(b.life(&y).First), cmp.Compare(a.Namespace, c.Namespace), cmp.Compare(a.Name, c.Name))
	})
	return out
}
