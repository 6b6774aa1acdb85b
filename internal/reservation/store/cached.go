package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Cached keeps a copy of all reservations, which a watch keeps new, for those that ask
// often. What it answers may be old: a change that is made from it is refused as
// one, and made again from Fresh.
type Cached struct {
	*Kube
	informer cache.SharedIndexInformer

	mu sync.Mutex
	// mine are the versions that were written or read here and that the watch may not
	// have brought yet.
	mine map[string]*Reservation
}

// NewCached makes a copy; Run fills it.
func NewCached(k *Kube) *Cached {
	c := &Cached{Kube: k, mine: map[string]*Reservation{}}
	c.informer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list := &ReservationList{}
			err := k.client.Get().Resource(reservations).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch = true
			return k.client.Get().Resource(reservations).VersionedParams(&opts, metav1.ParameterCodec).Watch(ctx)
		},
	}, &Reservation{}, 0, nil)
	return c
}

// errNoCopy says that the first list did not come.
var errNoCopy = errors.New("the API server has not listed the reservations")

// Run keeps the copy until ctx ends. It returns when the copy is there.
func (c *Cached) Run(ctx context.Context) (ended <-chan struct{}, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.informer.RunWithContext(ctx)
	}()
	if !cache.WaitForCacheSync(ctx.Done(), c.informer.HasSynced) {
		return done, errors.Join(errNoCopy, context.Cause(ctx))
	}
	return done, nil
}

// Get is the newest version known here. It must not be changed.
func (c *Cached) Get(ctx context.Context, name string) (*Reservation, error) {
	if r := c.known(name); r != nil {
		return r, nil
	}
	return c.Fresh(ctx, name)
}

func (c *Cached) known(name string) *Reservation {
	obj, ok, err := c.informer.GetStore().GetByKey(name)
	var seen *Reservation
	if ok && err == nil {
		seen, _ = obj.(*Reservation)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := c.mine[name]
	if mine == nil || seen != nil && (mine.UID != seen.UID || version(seen) >= version(mine)) {
		delete(c.mine, name)
		return seen
	}
	return mine
}

// version is a resource version as the number that it is: KEP-5504 says that they can
// be compared.
func version(r *Reservation) uint64 {
	n, err := strconv.ParseUint(r.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Fresh asks the API server.
func (c *Cached) Fresh(ctx context.Context, name string) (*Reservation, error) {
	r, err := c.Kube.Get(ctx, name)
	if errors.Is(err, ErrNotFound) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.mine, name)
	}
	if err != nil {
		return nil, err
	}
	c.remember(r)
	return r, nil
}

func (c *Cached) remember(r *Reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.mine[r.Name]; old == nil || old.UID != r.UID || version(old) < version(r) {
		c.mine[r.Name] = r
	}
}

// Save writes, and remembers what was written.
func (c *Cached) Save(ctx context.Context, r *Reservation) (*Reservation, error) {
	out, err := c.Kube.Save(ctx, r)
	if err == nil {
		c.remember(out)
	}
	return out, err
}

// List is all of them as they are known here, in order of their names. They must not be changed.
func (c *Cached) List(context.Context) ([]*Reservation, error) {
	keys := c.informer.GetStore().ListKeys()
	out := make([]*Reservation, 0, len(keys))
	for _, k := range keys {
		if r := c.known(k); r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Reservation) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Changed calls f for each change that the watch brings, until the copy ends.
func (c *Cached) Changed(f func(name string)) error {
	tell := func(obj any) {
		if r, ok := obj.(*Reservation); ok {
			f(r.Name)
		}
	}
	_, err := c.informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(_, obj any) { tell(obj) }, DeleteFunc: tell,
	}, time.Duration(0))
	return err //nolint:wrapcheck // only of an informer that has ended
}
