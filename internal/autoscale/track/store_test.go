package track

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// server answers the lists and watches of one source; a nil answer never comes.
type server struct {
	mu          sync.Mutex
	list, watch error // nil: it succeeds
	silent      bool  // lists never end
	opened      []*watch.FakeWatcher
	refused     int
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *server) source() source {
	return source{
		problem: snapshot.ProblemPods, like: &corev1.Pod{},
		put: func(runtime.Object, time.Time) {}, gone: func(metav1.Object, time.Time) {},
		lw: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
				s.mu.Lock()
				silent, err := s.silent, s.list
				s.mu.Unlock()
				if silent {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, err
			},
			WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				if o.SendInitialEvents != nil {
					return nil, errors.New("streaming lists are not supported")
				}
				if s.watch != nil {
					s.refused++
					return nil, s.watch
				}
				w := watch.NewFake()
				s.opened = append(s.opened, w)
				return w, nil
			},
		},
	}
}

func tracking(t *testing.T, s *server) *Tracker {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tr := New(Options{})
	tr.change(func(time.Time) { tr.follow(ctx, s.source()) })
	t.Cleanup(func() { cancel(); tr.running.Wait() })
	return tr
}

func TestASourceIsObservedOnlyAfterItsFirstList(t *testing.T) {
	t.Parallel()
	s := &server{silent: true}
	tr := tracking(t, s)
	if st := tr.State(); len(st.Sources) > 0 {
		t.Errorf("sources before any list: %v", st.Sources)
	}
	listed := &server{}
	tr = tracking(t, listed)
	polltest.Until(t, "the first list", func() bool { return slices.Contains(tr.State().Sources, snapshot.ProblemPods) })
}

func TestAReopenedWatchClearsItsError(t *testing.T) {
	t.Parallel()
	s := &server{}
	tr := tracking(t, s)
	opened := func(n int) func() bool {
		return func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.opened) == n }
	}
	polltest.Until(t, "the first watch", opened(1))
	s.set(func() { s.watch = syscall.ECONNREFUSED; s.opened[0].Stop() })
	polltest.Until(t, "the problem", func() bool { return tr.State().Problems[snapshot.ProblemPods] != "" })
	s.set(func() { s.watch = nil })
	polltest.Until(t, "the second watch", opened(2))
	polltest.Until(t, "the end of the problem", func() bool { return tr.State().Problems[snapshot.ProblemPods] == "" })
}

func TestAWatchThatIsDownIsAProblem(t *testing.T) {
	t.Parallel()
	s := &server{}
	tr := tracking(t, s)
	polltest.Until(t, "the first watch", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.opened) == 1 })
	s.set(func() { s.watch = syscall.ECONNREFUSED; s.opened[0].Stop() })
	polltest.Until(t, "two refusals", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.refused > 1 })
	if tr.State().Problems[snapshot.ProblemPods] == "" {
		t.Error("a watch that is down must be a problem")
	}
}
