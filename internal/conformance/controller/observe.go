package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	pollInterval = 500 * time.Millisecond
	// readTimeout limits one read of a resource with its children.
	readTimeout = time.Minute
	// successorTimeout limits the wait for a successor after the resource has ended.
	successorTimeout = 2 * time.Minute
	removeTimeout    = 2 * time.Minute
)

// observation is an observation in progress.
type observation struct {
	*Check
	cluster   *kube.Cluster
	rec       check.Observer
	operator  Operator
	namespace string
}

// begin begins an observation; format and args describe the API call.
func (w *observation) begin(kind, target, format string, args ...any) check.Attempt {
	return w.rec.Begin(kind, target, fmt.Sprintf(format, args...))
}

// recordRaw records figures with the objects that they are read from.
func recordRaw(attempt check.Attempt, figures, objects any) error {
	if objects == nil {
		return attempt.Record(figures, nil)
	}
	raw, err := json.MarshalIndent(objects, "", " ")
	if err != nil {
		return fmt.Errorf("encode objects: %w", err)
	}
	return attempt.Raw(raw).Record(figures, nil)
}

// observe stops at the first step without which the later ones prove nothing.
func (w *observation) observe(ctx context.Context) (err error) {
	found, err := w.detect(ctx)
	if err != nil || !found {
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
	free, err := w.observeUsage(ctx)
	if err != nil || !free {
		return err
	}
	if w.namespace, err = (kube.Guest{Cluster: w.cluster}).EnsureNamespace(ctx, w.deps.RunID); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.remove(ctx)) }()
	if ready, err := w.setUp(ctx); err != nil || !ready {
		return err
	}
	w.rec.Progress("%s: creating a resource and watching its children", w.operator.Title)
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

// observeUsage reports whether a GPU is free for the pods of resources.
func (w *observation) observeUsage(ctx context.Context) (free bool, err error) {
	attempt := w.begin(kindUsage, "cluster", "%s", inventory.UsageCommand(w.class))
	usage, err := inventory.UsageBy(ctx, w.cluster, w.class, w.nodes)
	return freeGPUs(usage) > 0, attempt.Record(usage, err)
}

func freeGPUs(usage map[string]kube.Usage) (n int) {
	for _, u := range usage {
		n += u.Free()
	}
	return n
}

// values fill the operator's templates.
func (w *observation) values(name string, seconds int) values {
	return values{
		Name: name, Namespace: w.namespace, Image: w.image, PriorityClass: kube.PriorityClassOf(w.deps.RunID),
		Labels: kube.Labels(w.deps.RunID, Name), Nodes: w.nodes, Seconds: seconds, DeviceClass: w.class, Patches: w.deps.PodPatches,
	}
}

// setUp creates the object that the operator's resources need. A refusal is recorded as that of
// the resource.
func (w *observation) setUp(ctx context.Context) (ready bool, err error) {
	if w.operator.Setup == "" {
		return true, nil
	}
	obj, err := w.operator.render(w.operator.Setup, w.values("", 0), variant{})
	if err != nil {
		return false, err
	}
	attempt := w.begin(kindReconcile, targetPlain, "create %s %s", obj.GetKind(), obj.GetName())
	client, err := w.clientOf(obj)
	var refused error
	if err == nil {
		err = w.createClaimTemplate(ctx)
	}
	if err == nil {
		_, refused, err = w.admit(ctx, client, obj, admitTimeout)
	}
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		return false, attempt.Record(nil, err)
	case refused != nil:
		return false, attempt.Record(reconcileFigures{Refused: fmt.Sprintf("required %s %s: %v", obj.GetKind(), obj.GetName(), refused)}, nil)
	}
	return true, nil
}

// disrupt kills the controller while a resource is being reconciled, or records why not.
func (w *observation) disrupt(ctx context.Context, hook webhookFigures, before controllerFigures) error {
	attempt := w.begin(kindDisruption, "cluster", "kill the controller of %s", w.operator.Title)
	reason := ""
	switch {
	case !w.deps.Disruptive:
		reason = "killing the controller disturbs its other users: it needs --disruptive"
	case !hook.Found:
		reason = "without its webhook the controller is unknown"
	case len(before.Pods) == 0 && w.deps.KillOutside == nil:
		reason = "the controller is not a pod of this cluster, so it cannot be killed"
	}
	if reason != "" {
		return attempt.Record(disruptionFigures{NotRun: reason}, nil)
	}
	w.rec.Progress("%s: creating another resource and killing the controller meanwhile", w.operator.Title)
	var done disruptionFigures
	end, err := w.reconcile(ctx, targetKilled, w.operator.Work.Killed, func(ctx context.Context, so reconcileFigures) error {
		if done.Run || !podsRun(so) {
			return nil
		}
		attempt = w.begin(kindDisruption, "cluster", "kill the controller of %s", w.operator.Title)
		done.Begun, done.Ended, done.At = true, so.Ended != nil, w.deps.Clock.Now()
		killed, err := w.kill(ctx, before)
		done.Killed, done.Run = killed, err == nil
		return err
	})
	if err != nil {
		return err
	}
	if !done.Run {
		done.NotRun = "the resource had no running pod to interrupt: " + cmp.Or(end.Unread, end.Trouble)
	}
	if err := attempt.Record(done, nil); err != nil || !done.Run {
		return err
	}
	return w.awaitSuccessor(ctx, hook, before, end.Ended != nil)
}

// podsRun reports whether a pod of the resource runs.
func podsRun(so reconcileFigures) bool {
	n := len(so.Levels)
	return n > 0 && slices.ContainsFunc(so.Levels[n-1].Objects, func(p childState) bool { return p.Phase == "Running" })
}

// awaitSuccessor waits for another controller and records it, or else the last one. It does
// not wait where the resource did not end, since that wait was long enough.
func (w *observation) awaitSuccessor(ctx context.Context, hook webhookFigures, before controllerFigures, ended bool) error {
	attempt := w.begin(kindController, targetAfter, "GET service, pods, lease")
	if !ended {
		seen, err := w.controller(ctx, hook, before.Lease)
		return attempt.Record(seen, err)
	}
	var seen controllerFigures
	var failed error
	err := w.poll(ctx, successorTimeout, func(ctx context.Context) (bool, error) {
		seen, failed = w.controller(ctx, hook, before.Lease)
		return failed == nil && noSuccessor(before, seen) == "", nil
	})
	if err != nil && !errors.Is(err, errTimeout) {
		return err
	}
	return attempt.Record(seen, failed)
}

// remove deletes what was created, by its labels, and waits until its pods are deleted.
func (w *observation) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
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
	problems := []error{w.deleteClaimTemplate(ctx)}
	for _, k := range kinds {
		problems = append(problems, w.deleteAll(ctx, k, selector))
	}
	err := w.poll(ctx, removeTimeout, func(ctx context.Context) (bool, error) {
		for _, k := range append(kinds, w.operator.Children[len(w.operator.Children)-1]) {
			list, err := w.cluster.Dynamic.Resource(k.gvr()).Namespace(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
			if err != nil || len(list.Items) > 0 {
				return false, nil //nolint:nilerr // read again
			}
		}
		return true, nil
	})
	if err != nil {
		problems = append(problems, fmt.Errorf("remove resources of %s: %w", w.operator.Title, err))
	}
	return errors.Join(problems...)
}

func (w *observation) deleteAll(ctx context.Context, k Resource, selector string) error {
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

// errTimeout is the error of poll after its timeout.
var errTimeout = errors.New("timed out")

// poll calls done until it reports true, or timeout, with errTimeout.
func (w *observation) poll(ctx context.Context, timeout time.Duration, done func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, done)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wait.Interrupted(err):
		return errTimeout
	}
	return err
}

func withoutManagedFields(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	o.SetManagedFields(nil)
	return o.Object
}
