package operand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/world"
)

// holdAnnotation makes the lab's kwok stages hold a pod: creating (its containers wait) or ready
// (it runs and is not ready). Without it the pod is ready.
const (
	holdAnnotation = "firstlight.dev/world-hold"
	holdCreating   = "creating"
	holdReady      = "ready"
)

// driverInstall is the time from the start of a driver's container to its readiness, which takes
// minutes on hardware.
const driverInstall = time.Second

// waitsFor has the operands whose pods on the same node must be ready before an operand's init
// containers end.
var waitsFor = map[string][]string{
	Toolkit:      {Driver},
	DevicePlugin: {Toolkit},
	DCGM:         {Toolkit},
	Exporter:     {Toolkit},
	Features:     {Toolkit},
	MIGManager:   {Toolkit},
	Validator:    {Toolkit, DevicePlugin},
}

// change is a pod with another hold than it should have.
type change struct {
	pod  *corev1.Pod
	want string
	// restart: the pod must be deleted, so that its containers start again.
	restart bool
	// invalid: the container runtime cannot read the name of an image.
	invalid bool
}

// hold applies the holds that pods should have.
func (o *Operands) hold(ctx context.Context) error {
	changes, err := o.holds(time.Now())
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range changes {
		switch {
		case c.restart:
			errs = append(errs, o.restart(ctx, c.pod))
		case c.invalid:
			errs = append(errs, o.refuseImages(ctx, c.pod))
		case c.want == holdCreating: // its init container fails
			errs = append(errs, o.crash(ctx, c.pod))
		default:
			errs = append(errs, o.annotate(ctx, c.pod, c.want))
		}
	}
	return errors.Join(errs...)
}

// holds returns the pods whose hold must change.
func (o *Operands) holds(now time.Time) ([]change, error) {
	pods, err := o.pods.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list operand pods: %w", err)
	}
	state := o.world.Recent()
	o.mu.Lock()
	defer o.mu.Unlock()
	alive := map[types.UID]bool{}
	var changes []change
	for _, p := range pods {
		app := appOf(p)
		if app == "" || p.Spec.NodeName == "" || p.DeletionTimestamp != nil || !ownedByDaemonSet(p) {
			continue
		}
		alive[p.UID] = true
		host, _ := state.Node(p.Spec.NodeName)
		if c, ok := o.next(p, app, host, now); ok {
			changes = append(changes, c)
		}
	}
	for uid := range o.installing {
		if !alive[uid] {
			delete(o.installing, uid)
		}
	}
	return changes, nil
}

func ownedByDaemonSet(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "DaemonSet"
}

// next is the next step of a pod; false: none. It requires mu.
func (o *Operands) next(p *corev1.Pod, app string, host world.Node, now time.Time) (change, bool) {
	have := p.Annotations[holdAnnotation]
	switch {
	case have == holdCreating && slices.ContainsFunc(imagesOf(p), invalidName):
		return change{pod: p, invalid: true}, shows(p, have) && !refused(p)
	case app == Validator && host.CUDAValidationFails:
		if have != holdCreating {
			return change{pod: p, restart: true}, true
		}
		return change{pod: p, want: holdCreating}, o.startable(p, app) && !crashing(p)
	case host.OperandNotReady == app, app == DevicePlugin && host.MIGHalfApplied:
		delete(o.installing, p.UID)
		return change{pod: p, want: holdReady}, have != holdReady
	case !shows(p, have), have == holdCreating && !o.startable(p, app):
		return change{}, false
	case have == holdCreating && app == Driver:
		o.installing[p.UID] = now
		return change{pod: p, want: holdReady}, true
	case have == holdReady && app == Driver && now.Sub(o.installing[p.UID]) < driverInstall:
		return change{}, false
	}
	if have == "" {
		delete(o.installing, p.UID)
	}
	return change{pod: p}, have != ""
}

// shows reports whether kwok has applied a hold. It may miss a change that is made meanwhile.
func shows(p *corev1.Pod, hold string) bool {
	switch hold {
	case holdCreating:
		return p.Status.StartTime != nil
	case holdReady:
		return p.Status.Phase == corev1.PodRunning && !isReady(p)
	}
	return true
}

// startable reports whether the operands that an operand waits for are ready on its node.
func (o *Operands) startable(p *corev1.Pod, app string) bool {
	for _, other := range waitsFor[app] {
		if !o.Ready(p.Spec.NodeName, other) {
			return false
		}
	}
	return true
}

// annotate sets a pod's hold; empty removes it.
func (o *Operands) annotate(ctx context.Context, p *corev1.Pod, hold string) error {
	value := "null"
	if hold != "" {
		value = fmt.Sprintf("%q", hold)
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, p.UID, holdAnnotation, value)
	_, err := o.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("hold pod %s: %w", p.Name, err)
	}
	return nil
}
