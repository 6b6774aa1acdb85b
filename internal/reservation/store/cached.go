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
)

// Cached keeps a copy of reservations, which a watch keeps new, for those that ask
// often. What it answers may be old: a change that is made from it is refused as
// one, and made again from Fresh.
//
// A copy is believed for silentFor without news; after that a read asks the API server.
// So a watch that is cut is noticed, and so is an API server that does not answer.
type Cached struct {
	*Kube
	// all has every reservation; nil: each of one has the reservation of its name.
	all    cache.SharedIndexInformer
	byName map[string]cache.SharedIndexInformer

	mu sync.Mutex
	// mine are the versions that were written or read here and that the watch may not
	// have brought yet.
	own map[string]*Reservation
	// news is when the API server was last heard of; of a reservation, or, with the empty
	// name, of any.
	lastNews map[string]time.Time
	// interrupted counts the times that a list, a watch or a read failed.
	interruptions uint64
	// newest is the highest version that was ever seen.
	newestVersion uint64
	// restored: versions went back. The store was restored from a backup, and what is
	// known here is of another history: nothing is answered from the copy any more.
	restored bool
}

// silentFor is how long a copy is believed without news of the API server.
const silentFor = 5 * time.Second

// NewCached makes a copy of the reservations with these names, or of all; Run fills it.
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

// informer lists and watches one reservation, or with the empty name all.
func (c *Cached) informer(name string) cache.SharedIndexInformer {
	client := c.client
	only := func(opts *metav1.ListOptions) {
		if name != "" {
			opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}
	var mu sync.Mutex
	cut := false // the last watch could not be opened
	from := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			only(&opts)
			opts.ResourceVersion, opts.ResourceVersionMatch = "", "" // what there is now, not what a cache has
			return c.list(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			mu.Lock()
			defer mu.Unlock()
			if cut { // the store may be another one now: list, and compare
				cut = false
				return nil, apierrors.NewResourceExpired("the API server was away")
			}
			only(&opts)
			opts.Watch = true
			w, err := client.Get().Resource(reservations).VersionedParams(&opts, metav1.ParameterCodec).Watch(ctx)
			if err != nil {
				cut = true
				c.addInterruption()
			}
			return w, err
		},
	}
	i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(from, listsOnly{}), &Reservation{}, 0, nil)
	_, _ = i.AddEventHandler(handler(func(r *Reservation) { c.observe(r) })) // it fails only for one that has ended
	return i
}

// listsOnly has an informer list, not stream, what there is: a list has a version that
// can be compared.
type listsOnly struct{}

// IsWatchListSemanticsUnSupported is what client-go asks.
func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// handler calls f with each reservation that a watch brings.
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

// errNoCopy says that the first list did not come.
var errNoCopy = errors.New("the API server has not listed the reservations")

// Run keeps the copy until ctx ends. It returns when the copy is there.
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

// of is the informer that has a reservation; nil: there is none.
func (c *Cached) informerOf(name string) cache.SharedIndexInformer {
	if c.all != nil {
		return c.all
	}
	return c.byName[name]
}

// Copied is true: what Get and List answer may be old.
func (c *Cached) MayBeStale() bool { return true }

// Interrupted counts the times that the API server could not be asked. Where it grows,
// nobody could be heard of in between.
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

// heardOf notes news that a watch has brought.
func (c *Cached) observe(r *Reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newestVersion = max(c.newestVersion, version(r))
	c.markHeard(r.Name)
}

func (c *Cached) markHeard(name string) {
	now := time.Now()
	c.lastNews[name], c.lastNews[""] = now, now
}

// list asks for reservations, and compares the version of the answer with those that
// were seen before: it can not be older.
func (c *Cached) list(ctx context.Context, opts metav1.ListOptions) (*ReservationList, error) {
	c.mu.Lock()
	before := c.newestVersion
	c.mu.Unlock()
	list := &ReservationList{}
	err := c.client.Get().Resource(reservations).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list)
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

// distrust ends the belief in the copy, for good.
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

// silent tells that nothing was heard for so long that a copy is not believed.
func (c *Cached) isSilent(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.restored || time.Since(c.lastNews[name]) > silentFor
}

// Get is the newest version known here. It must not be changed.
func (c *Cached) Get(ctx context.Context, name string) (*Reservation, error) {
	about := name
	if c.all != nil {
		about = "" // one watch brings them all: news of one is of all
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

// version is a resource version as the number that it is: KEP-5504 says that they can
// be compared.
func version(r *Reservation) uint64 { return parseVersion(r.ResourceVersion) }

func parseVersion(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Fresh asks the API server.
func (c *Cached) GetUncached(ctx context.Context, name string) (*Reservation, error) {
	before := c.known(name) // the answer can not be older
	r, err := c.Kube.Get(ctx, name)
	if errors.Is(err, ErrNotFound) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.own, name)
		c.markHeard("")
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

// Save writes, and remembers what was written.
func (c *Cached) Save(ctx context.Context, r *Reservation) (*Reservation, error) {
	out, err := c.Kube.Save(ctx, r)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.remember(out)
	}
	return out, err
}

// List is all of them as they are known here, in order of their names. They must not be changed.
func (c *Cached) List(ctx context.Context) ([]*Reservation, error) {
	if c.all == nil || !c.all.HasSynced() {
		return c.Kube.List(ctx)
	}
	if c.isSilent("") { // ask for as little as shows that the API server, and what it keeps, answers
		if _, err := c.list(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			return nil, err
		}
	}
	if c.isRestored() {
		return c.Kube.List(ctx)
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

// Follow calls changed after each change to one of these reservations that the watch
// brings, until stop is called. What it answers is the copy.
func (c *Cached) Follow(_ context.Context, names []string, changed func()) (followed *Cached, stop func()) {
	var undo []func()
	for _, i := range c.informers() {
		reg, err := i.AddEventHandler(handler(func(r *Reservation) {
			if slices.Contains(names, r.Name) {
				changed()
			}
		}))
		if err == nil { // else the copy has ended, and each read asks
			undo = append(undo, func() { _ = i.RemoveEventHandler(reg) })
		}
	}
	return c, func() {
		for _, f := range undo {
			f()
		}
	}
}

// Follow makes a copy of these reservations alone, and calls changed after each change
// to one of them. It lasts until stop is called.
func (k *Kube) Follow(ctx context.Context, names []string, changed func()) (followed *Cached, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := NewCached(k, names...)
	_, unfollow := c.Follow(ctx, names, changed)
	ended := c.start(ctx)
	wait, enough := context.WithTimeout(ctx, silentFor)
	defer enough()
	cache.WaitForCacheSync(wait.Done(), c.synced) // until it is there each read asks
	return c, func() { unfollow(); cancel(); <-ended }
}
