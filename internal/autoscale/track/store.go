package track

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// source is one watched kind of object.
type source struct {
	// problem is the Problem's name for watch errors.
	problem string
	lw      *cache.ListWatch
	like    runtime.Object
	// put and gone are called with the tracker's mu held.
	put  func(o runtime.Object, now time.Time)
	gone func(o metav1.Object, now time.Time)
}

// store is a reflector store that keeps only object identities, to detect deletions
// between two watches.
type store struct {
	t      *Tracker
	source source
	live   map[types.UID]metav1.Object
	listed chan struct{}
	once   sync.Once
}

var _ cache.ReflectorStore = (*store)(nil)

// Add implements cache.ReflectorStore.
func (s *store) Add(o any) error {
	s.t.change(func(now time.Time) { s.add(o, now) })
	return nil
}

// Update implements cache.ReflectorStore.
func (s *store) Update(o any) error { return s.Add(o) }

// Delete implements cache.ReflectorStore.
func (s *store) Delete(o any) error {
	s.t.change(func(now time.Time) {
		m, err := meta.Accessor(o)
		if err != nil {
			return
		}
		delete(s.live, m.GetUID())
		s.source.gone(m, now)
	})
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *store) Replace(list []any, _ string) error {
	s.t.change(func(now time.Time) {
		s.fine()
		here := map[types.UID]bool{}
		for _, o := range list {
			if m, err := meta.Accessor(o); err == nil {
				here[m.GetUID()] = true
			}
		}
		for uid, m := range s.live {
			if !here[uid] {
				delete(s.live, uid)
				s.source.gone(m, now)
			}
		}
		for _, o := range list {
			s.add(o, now)
		}
	})
	s.once.Do(func() { close(s.listed) })
	return nil
}

// Resync implements cache.ReflectorStore.
func (*store) Resync() error { return nil }

func (s *store) add(o any, now time.Time) {
	obj, ok := o.(runtime.Object)
	m, err := meta.Accessor(o)
	if !ok || err != nil {
		return
	}
	s.live[m.GetUID()] = &metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID()}
	s.source.put(obj, now)
}

// fine records that the source is listed and its watch open. The caller holds the tracker's mu.
func (s *store) fine() {
	delete(s.t.problems, s.source.problem)
	s.t.unlisted[s.source.problem] = false
}

// note records the read error of a source.
func (s *store) note(err error) error {
	s.t.change(func(time.Time) { s.t.problems[s.source.problem] = err.Error() })
	return err
}

// ListWithContext implements cache.ListerWatcherWithContext. Replace gets the whole list.
func (s *store) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := s.source.lw.ListWithContext(ctx, o)
	if err != nil && ctx.Err() == nil {
		return list, s.note(err)
	}
	return list, err
}

// WatchWithContext implements cache.ListerWatcherWithContext. A watch that continues a list
// ends the problem of the one before it; a streaming list has yet to come, as Replace.
func (s *store) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := s.source.lw.WatchWithContext(ctx, o)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		return w, s.note(err)
	case o.SendInitialEvents == nil || !*o.SendInitialEvents:
		s.t.change(func(time.Time) { s.fine() })
	}
	return w, err
}

// List and Watch implement cache.ListerWatcher; the reflector calls the methods above.

// List implements cache.ListerWatcher.
func (s *store) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.source.lw.ListWithContext(context.Background(), o) //nolint:forbidigo // the interface has no context, and the reflector does not call it
}

// Watch implements cache.ListerWatcher.
func (s *store) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.source.lw.WatchWithContext(context.Background(), o) //nolint:forbidigo // see List
}

// backoff between attempts to list and watch.
func backoff() *wait.Backoff {
	return &wait.Backoff{Duration: 300 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 10, Cap: 5 * time.Second}
}
