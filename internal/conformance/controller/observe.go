package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	// lookEvery is between two looks at what changes.
	lookEvery = 500 * time.Millisecond
	// lookWithin bounds one look.
	lookWithin = time.Minute
	// succession is how long a successor may take to be seen after the resource of the
	// killed one has ended.
	succession = 2 * time.Minute
)

// walk is one observation under way.
type walk struct {
	*Check
	cluster   *kube.Cluster
	rec       check.Recorder
	operator  Operator
	namespace string
}

// observe walks the whole way; what keeps it from going on is recorded and judged.
func (w *walk) observe(ctx context.Context) (err error) {
	there, err := w.detect(ctx)
	if err != nil || !there {
		return err
	}
	if err := w.observeDefinitions(ctx); err != nil {
		return err
	}
	hook, err := w.observeWebhook(ctx)
	if err != nil {
		return err
	}
	before, err := w.observeController(ctx, hook, targetBefore)
	if err != nil {
		return err
	}
	room, err := w.observeUsage(ctx)
	if err != nil || !room {
		return err
	}
	if w.namespace, err = (kube.Guest{Cluster: w.cluster}).EnsureNamespace(ctx, w.deps.RunID); err != nil {
		return err //nolint:wrapcheck // says what it makes
	}
	defer func() { err = errors.Join(err, w.remove(ctx)) }()
	if ready, err := w.setUp(ctx); err != nil || !ready {
		return err
	}
	w.rec.Progress("%s: a resource, and what is made of it", w.operator.Title)
	if _, err := w.reconcile(ctx, targetPlain, w.operator.Work.Plain, nil); err != nil {
		return err
	}
	if err := w.deny(ctx, targetInvalid, w.operator.Invalid); err != nil {
		return err
	}
	if err := w.deny(ctx, targetMisshapen, w.operator.Misshapen); err != nil {
		return err
	}
	return w.disrupt(ctx, hook, before)
}

// observeUsage sees whether a GPU is free for the pods of resources.
func (w *walk) observeUsage(ctx context.Context) (room bool, err error) {
	l := w.look(kindUsage, "cluster", "GET nodes, pods: %s allocatable less requested by live pods", kube.GPUResource)
	usage, err := w.cluster.Usage(ctx, w.nodes, kube.GPUResource)
	return free(usage) > 0, w.keep(l, usage, nil, err)
}

func free(usage map[string]kube.Usage) (n int) {
	for _, u := range usage {
		n += u.Free()
	}
	return n
}

// values fill the operator's templates.
func (w *walk) values(name string, seconds int) values {
	return values{
		Name: name, Namespace: w.namespace, Image: w.image, PriorityClass: kube.PriorityClassOf(w.deps.RunID),
		Labels: kube.Labels(w.deps.RunID, Name), Nodes: w.nodes, Seconds: seconds,
	}
}

// setUp creates what the operator's resources need. Where that is refused, the
// resource can't be created, and the refusal is recorded as its.
func (w *walk) setUp(ctx context.Context) (ready bool, err error) {
	if w.operator.Setup == "" {
		return true, nil
	}
	obj, err := w.operator.render(w.operator.Setup, w.values("", 0), variant{})
	if err != nil {
		return false, err
	}
	l := w.look(kindReconcile, targetPlain, "create %s %s", obj.GetKind(), obj.GetName())
	client, err := w.clientOf(obj)
	if err == nil {
		_, err = client.Create(ctx, obj, metav1.CreateOptions{})
	}
	if err == nil {
		return true, nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err() //nolint:wrapcheck // interrupted
	}
	return false, w.keep(l, reconcileFigures{Refused: fmt.Sprintf("%s %s that it needs: %v", obj.GetKind(), obj.GetName(), err)}, nil, nil)
}

// disrupt kills the controller while a resource is in the making, or says why not.
func (w *walk) disrupt(ctx context.Context, hook webhookFigures, before controllerFigures) error {
	l := w.look(kindDisruption, "cluster", "kill the controller of %s", w.operator.Title)
	why := ""
	switch {
	case !w.deps.Disruptive:
		why = "killing the controller disturbs whoever else uses it: it needs --disruptive"
	case !hook.Found:
		why = "there is no webhook that tells who the controller is"
	case len(before.Pods) == 0 && w.deps.KillOutside == nil:
		why = "the controller is no pod of this cluster, and there is no other way to it"
	}
	if why != "" {
		return w.keep(l, disruptionFigures{NotRun: why}, nil, nil)
	}
	w.rec.Progress("%s: another one, and its controller is killed meanwhile", w.operator.Title)
	var done disruptionFigures
	end, err := w.reconcile(ctx, targetKilled, w.operator.Work.Killed, func(ctx context.Context, so reconcileFigures) error {
		if done.Run || !working(so) {
			return nil
		}
		l = w.look(kindDisruption, "cluster", "kill the controller of %s", w.operator.Title)
		done.Begun, done.Ended, done.At = true, so.Ended != nil, w.deps.Clock.Now()
		killed, err := w.kill(ctx, before)
		done.Killed, done.Run = killed, err == nil
		return err
	})
	if err != nil {
		return err
	}
	if !done.Run {
		done.NotRun = "nothing that could be interrupted was made of the resource: " + end.Trouble
	}
	if err := w.keep(l, done, nil, nil); err != nil || !done.Run {
		return err
	}
	return w.awaitSuccessor(ctx, hook, before, end.Ended != nil)
}

// working: pods run that were made of the resource.
func working(so reconcileFigures) bool {
	n := len(so.Levels)
	return n > 0 && slices.ContainsFunc(so.Levels[n-1].Objects, func(p childState) bool { return p.Phase == "Running" })
}

// awaitSuccessor records who serves and reconciles now, as soon as that is another,
// or the last that was seen. Where the resource did not end, nobody is waited for: that
// has been done.
func (w *walk) awaitSuccessor(ctx context.Context, hook webhookFigures, before controllerFigures, ended bool) error {
	l := w.look(kindController, targetAfter, "GET service, pods, lease")
	if !ended {
		seen, err := w.controller(ctx, hook, before.Lease)
		return w.keep(l, seen, nil, err)
	}
	var seen controllerFigures
	var unread error
	err := w.poll(ctx, succession, func(ctx context.Context) (bool, error) {
		seen, unread = w.controller(ctx, hook, before.Lease)
		return unread == nil && succeeded(before, seen) == "", nil
	})
	if err != nil && !errors.Is(err, errLate) {
		return err
	}
	return w.keep(l, seen, nil, unread)
}

// remove deletes what was created, found by its labels, and waits until no pod of it
// is left.
func (w *walk) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	selector := kube.LabelRun + "=" + w.deps.RunID + "," + kube.LabelGate + "=" + Name
	kinds := []Resource{w.operator.Resource}
	if w.operator.Setup != "" {
		if obj, err := w.operator.render(w.operator.Setup, w.values("", 0), variant{}); err == nil {
			if r, err := w.resourceOf(obj); err == nil {
				kinds = append(kinds, r)
			}
		}
	}
	var problems []error
	for _, k := range kinds {
		problems = append(problems, w.deleteAll(ctx, k, selector))
	}
	err := w.poll(ctx, 2*time.Minute, func(ctx context.Context) (bool, error) {
		for _, k := range append(kinds, w.operator.Children[len(w.operator.Children)-1]) {
			list, err := w.cluster.Dynamic.Resource(k.gvr()).Namespace(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
			if err != nil || len(list.Items) > 0 {
				return false, nil //nolint:nilerr // looked at again
			}
		}
		return true, nil
	})
	if err != nil {
		problems = append(problems, fmt.Errorf("remove what was made of %s: %w", w.operator.Title, err))
	}
	return errors.Join(problems...)
}

func (w *walk) deleteAll(ctx context.Context, k Resource, selector string) error {
	client := w.cluster.Dynamic.Resource(k.gvr()).Namespace(w.namespace)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("list %s: %w", k.Resource, err)
	}
	background := metav1.DeletePropagationBackground
	var problems []error
	for i := range list.Items {
		o := &list.Items[i]
		uid := o.GetUID()
		err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{
			PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			problems = append(problems, fmt.Errorf("delete %s %s: %w", k.Resource, o.GetName(), err))
		}
	}
	return errors.Join(problems...)
}

// errLate says that something was not seen in time.
var errLate = errors.New("not in time")

// poll asks until it is done, for so long at most; the error then is errLate.
func (w *walk) poll(ctx context.Context, within time.Duration, ask func(context.Context) (done bool, err error)) error {
	limited, cancel := context.WithTimeoutCause(ctx, within, errLate)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		done, err := ask(limited)
		if ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // interrupted
		}
		if err != nil || done {
			return err
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			return context.Cause(limited) //nolint:wrapcheck // errLate, or why the caller ended
		}
	}
}

// bare is an object without what servers write of who wrote what.
func bare(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	o.SetManagedFields(nil)
	return o.Object
}
