package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
)

// reconcile creates a resource, watches it and its children until it ends, or until the
// deadline, and records them. meanwhile, if set, is called after every read.
func (w *observation) reconcile(ctx context.Context, target string, seconds int, meanwhile func(context.Context, reconcileFigures) error) (reconcileFigures, error) {
	obj, err := w.operator.render(w.operator.Valid, w.values("firstlight-"+target, seconds), variant{})
	if err != nil {
		return reconcileFigures{}, err
	}
	deadline := w.operator.Deadline
	if w.deps.Timeout > 0 {
		deadline = w.deps.Timeout
	}
	seen := reconcileFigures{Name: obj.GetName(), Deadline: metav1.Duration{Duration: deadline}, Levels: []levelState{}, Conditions: []metav1.Condition{}}
	attempt := w.begin(kindReconcile, target, "create %s %s; watch it, its %d levels of children, its conditions", obj.GetKind(), obj.GetName(), len(w.operator.Children))
	client := w.cluster.Dynamic.Resource(w.operator.Resource.gvr()).Namespace(w.namespace)
	created, refused, err := w.admit(ctx, client, obj, min(admitTimeout, deadline))
	if ctx.Err() != nil {
		return seen, ctx.Err()
	}
	if err != nil {
		seen.Trouble = err.Error()
		return seen, attempt.Record(nil, err)
	}
	if refused != nil {
		seen.Refused = refused.Error()
		return seen, attempt.Record(seen, nil)
	}
	seen.UID, seen.Created = string(created.GetUID()), w.deps.Clock.Now().UTC()
	f := &following{observation: w, seen: &seen, uid: created.GetUID(), raw: map[types.UID]map[string]any{}}
	err = w.poll(ctx, deadline, func(context.Context) (bool, error) {
		// The deadline does not cut off a read that has begun.
		limited, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		begun := w.deps.Clock.Now()
		if err := f.read(limited); err != nil {
			seen.Unread = err.Error() // unless a later read succeeds
			return false, nil
		}
		seen.Unread = ""
		if meanwhile != nil {
			if err := meanwhile(ctx, seen); err != nil {
				return false, err
			}
		}
		return seen.Ended != nil || seen.overdue(begun, w.operator.AfterWork), nil
	})
	if err != nil && !errors.Is(err, errTimeout) {
		return seen, err
	}
	switch {
	case seen.Ended != nil || seen.Unread != "":
	case err != nil:
		seen.Trouble = fmt.Sprintf("it has not ended %s after its creation", deadline)
	default:
		seen.Trouble = fmt.Sprintf("it has not ended %s after all its pods ended", w.operator.AfterWork)
	}
	return seen, recordRaw(attempt, seen, f.raw)
}

// admitTimeout limits how long a valid resource may be refused: the webhook has a cache, which
// may not have the object that the resource needs yet.
const admitTimeout = 30 * time.Second

// annotationAttempt identifies the creation of an object, so that one whose answer was lost is
// recognised.
const annotationAttempt = "firstlight.dev/attempt"

// admit creates an object until it is admitted, or timeout: then refused is the last answer of
// the API server. An error without such an answer, and an object of this name that another
// attempt created, is an error and no refusal.
func (w *observation) admit(ctx context.Context, client dynamic.ResourceInterface, obj *unstructured.Unstructured, timeout time.Duration) (created *unstructured.Unstructured, refused, err error) {
	attempt := string(uuid.NewUUID())
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationAttempt] = attempt
	obj.SetAnnotations(annotations)
	var last error
	err = w.poll(ctx, timeout, func(context.Context) (bool, error) {
		// The timeout does not cut off a request that has begun.
		limited, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		if created, last = client.Create(limited, obj, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(last) {
			return last == nil, nil
		}
		existing, err := client.Get(limited, obj.GetName(), metav1.GetOptions{})
		if err == nil && existing.GetAnnotations()[annotationAttempt] != attempt {
			return false, fmt.Errorf("create %s %s: it already exists and another attempt created it", obj.GetKind(), obj.GetName())
		}
		created, last = existing, err
		return err == nil, nil
	})
	var answer apierrors.APIStatus
	switch {
	case !errors.Is(err, errTimeout):
		return created, nil, err
	case errors.As(last, &answer):
		return nil, last, nil
	default:
		return nil, nil, last
	}
}

// following is a resource that is being watched.
type following struct {
	*observation
	seen *reconcileFigures
	uid  types.UID
	// raw are the last versions of all objects, by UID.
	raw map[types.UID]map[string]any
}

// read reads the resource, then its children level by level, so that they are never older than
// its conditions.
func (f *following) read(ctx context.Context) error {
	self, err := f.cluster.Dynamic.Resource(f.operator.Resource.gvr()).Namespace(f.namespace).Get(ctx, f.seen.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read %s: %w", f.seen.Name, err)
	}
	if self.GetUID() != f.uid {
		return fmt.Errorf("%s was replaced by another object", f.seen.Name)
	}
	conditions := conditionsOf(self)
	f.raw[f.uid] = withoutManagedFields(self)
	parents := map[types.UID]bool{f.uid: true}
	for i, kind := range f.operator.Children {
		list, err := f.cluster.Dynamic.Resource(kind.gvr()).Namespace(f.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		if len(f.seen.Levels) == i {
			f.seen.Levels = append(f.seen.Levels, levelState{Resource: kind.Resource, Objects: []childState{}})
		}
		next := map[types.UID]bool{}
		for j := range list.Items {
			o := &list.Items[j]
			if owner := metav1.GetControllerOf(o); owner != nil && parents[owner.UID] {
				f.add(&f.seen.Levels[i], o, owner.UID)
				next[o.GetUID()] = true
			}
		}
		for _, o := range f.seen.Levels[i].Objects { // including deleted ones
			next[types.UID(o.UID)] = true
		}
		parents = next
	}
	f.seen.Conditions = conditions
	f.setEnded()
	return nil
}

// setEnded sets when the pods, and the resource itself, were first observed to have ended.
func (f *following) setEnded() {
	now := f.deps.Clock.Now().UTC().Truncate(time.Millisecond)
	if !f.seen.podsEnded() {
		f.seen.WorkEnded = nil
	} else if f.seen.WorkEnded == nil {
		f.seen.WorkEnded = &now
	}
	for _, c := range f.seen.Conditions {
		if (c.Type == f.operator.Done || c.Type == f.operator.Failed) && c.Status == metav1.ConditionTrue && f.seen.Ended == nil {
			f.seen.Ended = &now
		}
	}
}

// podsEnded reports whether it has pods and all have ended.
func (so reconcileFigures) podsEnded() bool {
	n := len(so.Levels)
	return n > 0 && len(so.Levels[n-1].Objects) > 0 && !slices.ContainsFunc(so.Levels[n-1].Objects, func(p childState) bool {
		return p.Phase != string(corev1.PodSucceeded) && p.Phase != string(corev1.PodFailed)
	})
}

// overdue reports whether its pods ended longer before the last read than its own end may take. The read
// began at begun: a stall of firstlight after it does not count.
func (so reconcileFigures) overdue(begun time.Time, after time.Duration) bool {
	return so.WorkEnded != nil && begun.Sub(*so.WorkEnded) > after
}

// add adds a child, or its new state.
func (f *following) add(level *levelState, o *unstructured.Unstructured, owner types.UID) {
	f.raw[o.GetUID()] = withoutManagedFields(o)
	c := childState{Name: o.GetName(), UID: string(o.GetUID()), Owner: string(owner)}
	if level.Resource == "pods" {
		c.Phase, _, _ = unstructured.NestedString(o.Object, "status", "phase")
		c.Node, _, _ = unstructured.NestedString(o.Object, "spec", "nodeName")
	}
	for i := range level.Objects {
		if level.Objects[i].UID == c.UID {
			level.Objects[i] = c
			return
		}
	}
	level.Objects = append(level.Objects, c)
}
