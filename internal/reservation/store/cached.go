package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cached is a watched copy of reservations, for frequent reads. A read may be stale: a change
// based on it can conflict, and is then repeated on GetUncached.
//
// The copy is trusted for silentFor after the last news of the API server; after that each read
// goes to the API server. This detects a broken watch and an unreachable API server.
type Cached struct {
	*Kube
	// all watches every reservation; if nil, byName has an informer per reservation.
	all    cache.SharedIndexInformer
	byName map[string]cache.SharedIndexInformer

	mu sync.Mutex
	// own has versions that were written or read here and that the watch may not have delivered
	// yet.
	own map[string]*Reservation
	// lastNews is the time of the last news of a reservation, or, with the empty name, of any.
	lastNews map[string]time.Time
	// interruptions counts failed lists, watches and reads.
	interruptions uint64
	// newestVersion is the highest resource version seen.
	newestVersion uint64
	// restored: versions went back, so the store was restored from a backup. The copy belongs to
	// another history, and every read goes to the API server from then on.
	restored bool
}

// silentFor is how long the copy is trusted without news of the API server.
const silentFor = 5 * time.Second

// NewCached returns a copy of the named reservations, or of all; Run fills it.
func NewCached(k *Kube, names ...string) *Cached {
	c := &Cached{Kube: k, own: map[string]*Reservation{}, lastNews: map[string]time.Time{}, byName: map[string]cache.SharedIndexInformer{}}
	if len(names) == 0 {
		c.all = c.informer("")
		return c
	}
	for _, name := range names {
		c.byName[name] = c.informer(name)
	}
	return c
}

// informer lists and watches one reservation, or, with the empty name, all.
func (c *Cached) informer(name string) cache.SharedIndexInformer {
	only := func(opts *metav1.ListOptions) {
		if name != "" {
			opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}
	var mu sync.Mutex
	cut := false // the last watch failed to open
	from := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			only(&opts)
			opts.ResourceVersion, opts.ResourceVersionMatch = "", "" // the current state, not a cached one
			return c.list(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			mu.Lock()
			defer mu.Unlock()
			if cut { // the store may have been replaced: list, and compare versions
				cut = false
				return nil, apierrors.NewResourceExpired("the API server was unreachable")
			}
			only(&opts)
			w, err := c.client.Watch(ctx, &ReservationList{}, &client.ListOptions{Raw: &opts})
			if err != nil {
				cut = true
				c.addInterruption()
			}
			return w, err
		},
	}
	i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(from, listsOnly{}), &Reservation{}, 0, nil)
	_, _ = i.AddEventHandler(handler(func(r *Reservation) { c.observe(r) })) // fails only after the informer has stopped
	return i
}

// listsOnly makes an informer list instead of stream: a list has a version that can be compared.
type listsOnly struct{}

// IsWatchListSemanticsUnSupported implements the interface of client-go.
func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// handler calls f with each reservation of a watch event.
func handler(f func(r *Reservation)) cache.ResourceEventHandler {
	tell := func(obj any) {
		if removed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = removed.Obj
		}
		if r, ok := obj.(*Reservation); ok {
			f(r)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, obj any) { tell(obj) }, DeleteFunc: tell}
}

var errNoCopy = errors.New("the API server has not listed the reservations yet")

// Run starts the copy, which runs until ctx ends, and returns when it is complete.
func (c *Cached) Run(ctx context.Context) (ended <-chan struct{}, err error) {
	done := c.start(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), c.synced) {
		return done, errors.Join(errNoCopy, context.Cause(ctx))
	}
	return done, nil
}

func (c *Cached) start(ctx context.Context) (ended <-chan struct{}) {
	done := make(chan struct{})
	var running sync.WaitGroup
	for _, i := range c.informers() {
		running.Go(func() { i.RunWithContext(ctx) })
	}
	go func() {
		defer close(done)
		running.Wait()
	}()
	return done
}

func (c *Cached) informers() []cache.SharedIndexInformer {
	if c.all != nil {
		return []cache.SharedIndexInformer{c.all}
	}
	var out []cache.SharedIndexInformer
	for _, i := range c.byName {
		out = append(out, i)
	}
	return out
}

func (c *Cached) synced() bool {
	return !slices.ContainsFunc(c.informers(), func(i cache.SharedIndexInformer) bool { return !i.HasSynced() })
}

// informerOf returns the informer of a reservation, or nil.
func (c *Cached) informerOf(name string) cache.SharedIndexInformer {
	if c.all != nil {
		return c.all
	}
	return c.byName[name]
}

// MayBeStale returns true.
func (c *Cached) MayBeStale() bool { return true }

// Interruptions counts the failures to read from the API server. While they grow, heartbeats may
// have been missed.
func (c *Cached) Interruptions() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interruptions
}

func (c *Cached) addInterruption() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interruptions++
}

// observe records a watch event.
func (c *Cached) observe(r *Reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newestVersion = max(c.newestVersion, version(r))
	c.markHeard(r.Name)
	c.markHeard("")
}

func (c *Cached) markHeard(name string) { c.lastNews[name] = time.Now() }

// list lists reservations and checks that the version of the answer is not older than earlier
// ones.
func (c *Cached) list(ctx context.Context, opts metav1.ListOptions) (*ReservationList, error) {
	c.mu.Lock()
	before := c.newestVersion
	c.mu.Unlock()
	list := &ReservationList{}
	err := c.client.List(ctx, list, &client.ListOptions{Raw: &opts, Limit: opts.Limit, Continue: opts.Continue})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.interruptions++
		return nil, wrapError(err, "list reservations")
	}
	at := parseVersion(list.ResourceVersion)
	if at < before {
		c.markRestored()
	}
	c.newestVersion = max(c.newestVersion, at)
	for i := range list.Items {
		c.markHeard(list.Items[i].Name)
	}
	c.markHeard("")
	return list, nil
}

// markRestored stops the use of the copy for good.
func (c *Cached) markRestored() {
	c.restored = true
	c.interruptions++
	clear(c.own)
}

func (c *Cached) isRestored() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.restored
}

// isSilent reports whether the copy is too old to be trusted.
func (c *Cached) isSilent(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.restored || time.Since(c.lastNews[name]) > silentFor
}

// Get returns the newest known version. It must not be changed.
func (c *Cached) Get(ctx context.Context, name string) (*Reservation, error) {
	about := name
	if c.all != nil {
		about = "" // one watch delivers all: news of one is news of all
	}
	if r := c.known(name); r != nil && !c.isSilent(about) {
		return r, nil
	}
	return c.GetUncached(ctx, name)
}

func (c *Cached) known(name string) *Reservation {
	var seen *Reservation
	if i := c.informerOf(name); i != nil {
		if obj, ok, err := i.GetStore().GetByKey(name); ok && err == nil {
			seen, _ = obj.(*Reservation)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := c.own[name]
	if mine == nil || seen != nil && (mine.UID != seen.UID || version(seen) >= version(mine)) {
		delete(c.own, name)
		return seen
	}
	return mine
}

// version returns a resource version as a number; KEP-5504 makes them comparable.
func version(r *Reservation) uint64 { return parseVersion(r.ResourceVersion) }

func parseVersion(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// GetUncached reads from the API server.
func (c *Cached) GetUncached(ctx context.Context, name string) (*Reservation, error) {
	before := c.known(name) // the answer cannot be older
	r, err := c.Kube.Get(ctx, name)
	if errors.Is(err, ErrNotFound) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.own, name)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before != nil && before.UID == r.UID && version(r) < version(before) {
		c.markRestored()
	}
	c.remember(r)
	return r, nil
}

// remember must be called with mu held.
func (c *Cached) remember(r *Reservation) {
	c.markHeard(r.Name)
	c.newestVersion = max(c.newestVersion, version(r))
	if old := c.own[r.Name]; !c.restored && c.informerOf(r.Name) != nil && (old == nil || old.UID != r.UID || version(old) < version(r)) {
		c.own[r.Name] = r
	}
}

func (c *Cached) rememberAll(list *ReservationList) []*Reservation {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*Reservation, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
		c.remember(out[i])
	}
	return out
}

// Save writes the status and updates the copy.
func (c *Cached) Save(ctx context.Context, r *Reservation) (*Reservation, error) {
	out, err := c.Kube.Save(ctx, r)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.remember(out)
	}
	return out, err
}

// List returns the known versions of all reservations, sorted by name. They must not be changed.
func (c *Cached) List(ctx context.Context) ([]*Reservation, error) {
	if c.all == nil || !c.all.HasSynced() {
		return c.Kube.List(ctx)
	}
	if c.isRestored() {
		return c.Kube.List(ctx)
	}
	if c.isSilent("") { // the watch may be broken, although other requests are answered
		list, err := c.list(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return c.rememberAll(list), nil
	}
	keys := c.all.GetStore().ListKeys()
	out := make([]*Reservation, 0, len(keys))
	for _, k := range keys {
		if r := c.known(k); r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Reservation) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Follow calls changed after each watched change to one of these reservations, until stop is
// called.
func (c *Cached) Follow(_ context.Context, names []string, changed func()) (followed *Cached, stop func()) {
	var undo []func()
	for _, i := range c.informers() {
		reg, err := i.AddEventHandler(handler(func(r *Reservation) {
			if slices.Contains(names, r.Name) {
				changed()
			}
		}))
		if err == nil { // otherwise the copy has stopped, and each read goes to the API server
			undo = append(undo, func() { _ = i.RemoveEventHandler(reg) })
		}
	}
	return c, func() {
		for _, f := range undo {
			f()
		}
	}
}

// Follow watches only these reservations, until stop is called, and calls changed after each
// change.
func (k *Kube) Follow(ctx context.Context, names []string, changed func()) (followed *Cached, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := NewCached(k, names...)
	_, unfollow := c.Follow(ctx, names, changed)
	ended := c.start(ctx)
	wait, enough := context.WithTimeout(ctx, silentFor)
	defer enough()
	cache.WaitForCacheSync(wait.Done(), c.synced) // until it is synced, each read goes to the API server
	return c, func() { unfollow(); cancel(); <-ended }
}
