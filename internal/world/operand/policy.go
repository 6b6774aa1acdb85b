package operand

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/world"
)

// policyName is the ClusterPolicy of the operator's chart.
const policyName = "cluster-policy"

// Policy is the ClusterPolicy that a GPU Operator outside the world reconciles. The world changes
// it as an administrator does, for the fault of an unfinished driver upgrade, and waits for it.
type Policy struct {
	client   kubernetes.Interface
	policies dynamic.ResourceInterface
	world    *world.World
	log      *slog.Logger

	mu sync.Mutex
	// steady is the time since which the policy has matched the world; zero: it does not.
	steady time.Time
}

// NewPolicy returns the policy; Run follows the world.
func NewPolicy(client kubernetes.Interface, dyn dynamic.Interface, w *world.World, log *slog.Logger) *Policy {
	return &Policy{
		client: client, world: w, log: log,
		policies: dyn.Resource(schema.GroupVersionResource{Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"}),
	}
}

// Run follows the world until ctx ends.
func (p *Policy) Run(ctx context.Context) {
	notices, cancel := p.world.Subscribe()
	defer cancel()
	changed := false
	for {
		wait := 5 * time.Second
		pending := p.world.Recent().DriverUpgradePending
		if pending || changed {
			changed = true
			done, err := p.upgrade(ctx, pending)
			if err != nil && ctx.Err() == nil {
				p.log.Warn("cannot change the ClusterPolicy", "err", err)
			}
			if done && !pending {
				changed = false
			}
			wait = time.Second / 2
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-notices:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// upgrade sets the driver's version to another one without automatic upgrades, so that the running
// drivers are outdated, or restores both. Automatic upgrades are restored last, because they would
// act on the outdated drivers.
func (p *Policy) upgrade(ctx context.Context, pending bool) (done bool, err error) {
	software := p.world.Recent().Hardware.Software
	version := software.Driver
	if pending {
		version = software.OtherDriver
	}
	policy, err := p.policies.Get(ctx, policyName, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get the policy: %w", err)
	}
	have, _, _ := unstructured.NestedString(policy.Object, "spec", "driver", "version")
	automatic, _, _ := unstructured.NestedBool(policy.Object, "spec", "driver", "upgradePolicy", "autoUpgrade")
	restore := false
	if !pending && have == version {
		driver, err := p.client.AppsV1().DaemonSets(Namespace).Get(ctx, Driver, metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("get the driver's DaemonSet: %w", err)
		}
		restore = current(driver)
	}
	if have == version && automatic == restore {
		return restore == !pending, nil
	}
	patch := fmt.Sprintf(`{"spec":{"driver":{"version":%q,"upgradePolicy":{"autoUpgrade":%t}}}}`, version, restore)
	if _, err := p.policies.Patch(ctx, policyName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return false, fmt.Errorf("change the driver of the policy: %w", err)
	}
	return false, nil
}

// current reports whether all pods of a DaemonSet are of its current template.
func current(d *appsv1.DaemonSet) bool {
	return d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedNumberScheduled == d.Status.DesiredNumberScheduled
}

// Exists reports whether the cluster has the policy: a chart is installed.
func (p *Policy) Exists(ctx context.Context) (bool, error) {
	_, err := p.policies.Get(ctx, policyName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get the policy: %w", err)
	}
	return true, nil
}

// steadyFor is how long the policy must match the world: a reconciliation that began before the
// last change can still write its result.
const steadyFor = 3 * time.Second

// Settled returns nil when the operator's DaemonSets and the policy's status have matched the world
// for steadyFor.
func (p *Policy) Settled(ctx context.Context) error {
	if err := SyncToolkit(ctx, p.policies, p.world.Recent()); err != nil {
		return err
	}
	if p.world.Recent().GPUOperatorDown {
		return nil // nothing changes
	}
	err := p.matches(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		p.steady = time.Time{}
		return err
	case p.steady.IsZero():
		p.steady = time.Now()
	}
	if time.Since(p.steady) < steadyFor {
		return errors.New("the ClusterPolicy's status may still change")
	}
	p.steady = time.Time{} // for the next change
	return nil
}

func (p *Policy) matches(ctx context.Context) error {
	state := p.world.Recent()
	nodes, want := 0, "ready"
	for _, n := range state.GPUNodes() {
		if state.ZeroGPUNodes || n.NFDLabelsMissing {
			continue
		}
		nodes++
		if n.OperandNotReady != "" || n.CUDAValidationFails || n.MIGHalfApplied {
			want = "notReady"
		}
	}
	if state.DriverUpgradePending && nodes > 0 {
		want = "notReady"
	}
	if err := p.covered(ctx, nodes, state.DriverUpgradePending); err != nil {
		return err
	}
	policy, err := p.policies.Get(ctx, policyName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get the policy: %w", err)
	}
	if automatic, _, _ := unstructured.NestedBool(policy.Object, "spec", "driver", "upgradePolicy", "autoUpgrade"); automatic == state.DriverUpgradePending {
		return fmt.Errorf("ClusterPolicy has autoUpgrade %t", automatic)
	}
	status, reason := statusOf(policy)
	ready := want == "ready"
	if status != want || ready && nodes > 0 && reason != "Reconciled" || ready && nodes == 0 && reason == "Reconciled" {
		return fmt.Errorf("ClusterPolicy is %q (%s), not yet %q", status, reason, want)
	}
	return nil
}

// covered returns nil when each operand's DaemonSet covers the nodes.
func (p *Policy) covered(ctx context.Context, nodes int, outdated bool) error {
	sets, err := p.client.AppsV1().DaemonSets(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list DaemonSets: %w", err)
	}
	have := map[string]*appsv1.DaemonSet{}
	for i := range sets.Items {
		have[sets.Items[i].Name] = &sets.Items[i]
	}
	if have[Driver] == nil { // NVIDIADrivers install it
		for i := range sets.Items {
			if d := &sets.Items[i]; labels.SelectorFromSet(driverComponent).Matches(labels.Set(d.Labels)) && int(d.Status.DesiredNumberScheduled) == nodes {
				have[Driver] = d
			}
		}
	}
	for _, name := range []string{Driver, Toolkit, DevicePlugin, Exporter, Features, Validator} {
		d := have[name]
		if d == nil {
			if nodes == 0 {
				continue
			}
			return fmt.Errorf("DaemonSet %s does not exist yet", name)
		}
		if int(d.Status.DesiredNumberScheduled) != nodes || current(d) == (outdated && name == Driver && nodes > 0) {
			return fmt.Errorf("DaemonSet %s covers %d nodes, %d of them current, not yet %d", name, d.Status.DesiredNumberScheduled, d.Status.UpdatedNumberScheduled, nodes)
		}
	}
	return nil
}

// statusOf returns a policy's state and the reason of its Ready condition.
func statusOf(policy *unstructured.Unstructured) (state, reason string) {
	state, _, _ = unstructured.NestedString(policy.Object, "status", "state")
	conditions, _, _ := unstructured.NestedSlice(policy.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			reason, _ = m["reason"].(string)
		}
	}
	return state, reason
}
