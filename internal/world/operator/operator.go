package operator

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/exporter"
	"github.com/firstlight/firstlight/internal/world/operand"
)

// Names of the operator's objects.
const (
	Namespace  = operand.Namespace
	PolicyName = "cluster-policy"
)

//go:embed manifests.yaml
var manifests string

// Config is the cluster whose GPU stack is simulated.
type Config struct {
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	World   *world.World
	// ExporterPort of the exporter's pods; 0: the default.
	ExporterPort int
}

// Operator is the simulated GPU Operator.
type Operator struct {
	config   Config
	log      *slog.Logger
	operands []daemonSet
	policies dynamic.ResourceInterface

	nodes corelisters.NodeLister
	sets  appslisters.DaemonSetLister
	poke  chan struct{}

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Start creates the definition, the policy and the operands. ctx bounds the start; the Operator
// runs until Stop.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	cfg.ExporterPort = cmp.Or(cfg.ExporterPort, exporter.Port)
	operands, err := loadOperands()
	if err != nil {
		return nil, err
	}
	o := &Operator{
		config: cfg, log: log, operands: operands, poke: make(chan struct{}, 1),
		policies: cfg.Dynamic.Resource(schema.GroupVersionResource{Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"}),
	}
	if err := o.install(ctx); err != nil {
		return nil, fmt.Errorf("install the GPU operator: %w", err)
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o.cancel = cancel
	if err := o.watch(ctx, life); err != nil {
		o.Stop()
		return nil, fmt.Errorf("start the GPU operator: %w", err)
	}
	o.wg.Go(func() { o.run(life) })
	return o, nil
}

// Stop stops the Operator. Objects remain.
func (o *Operator) Stop() {
	o.cancel()
	o.wg.Wait()
}

// install creates missing objects.
func (o *Operator) install(ctx context.Context) error {
	resources := map[string]schema.GroupVersionResource{
		"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		"Namespace":                {Version: "v1", Resource: "namespaces"},
		"ClusterPolicy":            {Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"},
		"Deployment":               {Group: "apps", Version: "v1", Resource: "deployments"},
	}
	for doc := range strings.SplitSeq(manifests, "\n---\n") {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &obj.Object); err != nil {
			return fmt.Errorf("decode manifest: %w", err)
		}
		if err := create(ctx, obj.GetKind()+" "+obj.GetName(), func(ctx context.Context) error {
			var r dynamic.ResourceInterface = o.config.Dynamic.Resource(resources[obj.GetKind()])
			if ns := obj.GetNamespace(); ns != "" {
				r = o.config.Dynamic.Resource(resources[obj.GetKind()]).Namespace(ns)
			}
			if obj.GetKind() == "ClusterPolicy" {
				// The API server delays create requests of a new kind by two seconds (other API
				// servers may not serve it yet), but not apply requests.
				_, err := r.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "firstlight-world"})
				return err
			}
			_, err := r.Create(ctx, obj, metav1.CreateOptions{})
			return err
		}); err != nil {
			return err
		}
	}
	for _, op := range o.enabled() {
		if err := o.createOperand(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// enabled returns the operands that the nodes need.
func (o *Operator) enabled() []daemonSet {
	tools := slices.ContainsFunc(o.config.World.Recent().Nodes, func(n world.Node) bool { return n.ToolsInPods })
	return slices.DeleteFunc(slices.Clone(o.operands), func(op daemonSet) bool { return op.Tools && !tools })
}

func (o *Operator) createOperand(ctx context.Context, op daemonSet) error {
	ds := op.render(o.config.ExporterPort)
	return create(ctx, "DaemonSet "+ds.Name, func(ctx context.Context) error {
		_, err := o.config.Client.AppsV1().DaemonSets(Namespace).Create(ctx, ds, metav1.CreateOptions{})
		return err
	})
}

// create retries attempt until the object exists, the API server rejects it as invalid or ctx
// ends.
func create(ctx context.Context, object string, attempt func(context.Context) error) error {
	return poll.Until(ctx, 100*time.Millisecond, object+" to be created", func(ctx context.Context) error {
		err := attempt(ctx)
		switch {
		case apierrors.IsAlreadyExists(err):
			return nil
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			return poll.Stop(err)
		}
		return err
	})
}

// watch starts the informers and waits until they are synced.
func (o *Operator) watch(ctx, life context.Context) error {
	nodes := coreinformers.NewNodeInformer(o.config.Client, 0, nil)
	sets := appsinformers.NewDaemonSetInformer(o.config.Client, Namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	o.nodes, o.sets = corelisters.NewNodeLister(nodes.GetIndexer()), appslisters.NewDaemonSetLister(sets.GetIndexer())
	signal := func() {
		select {
		case o.poke <- struct{}{}:
		default:
		}
	}
	var synced []cache.DoneChecker
	for _, i := range []cache.SharedIndexInformer{nodes, sets} {
		// AddEventHandler fails only on a stopped informer.
		_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { signal() }, UpdateFunc: func(_, _ any) { signal() }, DeleteFunc: func(any) { signal() },
		})
		o.wg.Go(func() { i.RunWithContext(life) })
		synced = append(synced, i.HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("list nodes and DaemonSets: %w", context.Cause(ctx))
	}
	return nil
}

func (o *Operator) run(ctx context.Context) {
	notices, cancel := o.config.World.Subscribe()
	defer cancel()
	tick := time.NewTicker(5 * time.Second) // the resync interval of the real operator while not ready
	defer tick.Stop()
	for {
		if err := o.sync(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("cannot sync GPU operator", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-notices:
		case <-o.poke:
		case <-tick.C:
		}
	}
}

// sync starts or stops the operator's pod; while it runs, it creates an enabled operand and updates
// the status.
func (o *Operator) sync(ctx context.Context) error {
	down := o.config.World.Recent().GPUOperatorDown
	if err := o.scale(ctx, down); err != nil || down {
		return err
	}
	for _, op := range o.enabled() {
		if _, err := o.sets.DaemonSets(Namespace).Get(op.Name); apierrors.IsNotFound(err) {
			if err := o.createOperand(ctx, op); err != nil {
				return err
			}
		}
	}
	return o.updateStatus(ctx)
}

// updateStatus writes a changed status.
func (o *Operator) updateStatus(ctx context.Context) error {
	policy, current, next, err := o.computed(ctx)
	if err != nil {
		return err
	}
	if apiequality.Semantic.DeepEqual(current, next) {
		return nil
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&next)
	if err != nil {
		return fmt.Errorf("encode status of the policy: %w", err)
	}
	policy.Object["status"] = raw
	_, err = o.policies.UpdateStatus(ctx, policy, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // a concurrent update; the next sync retries
	}
	if err != nil {
		return fmt.Errorf("update status of the policy: %w", err)
	}
	return nil
}

// computed returns the policy, its current and its desired status.
func (o *Operator) computed(ctx context.Context) (policy *unstructured.Unstructured, current, next Status, err error) {
	policy, err = o.policies.Get(ctx, PolicyName, metav1.GetOptions{})
	if err != nil {
		return nil, current, next, fmt.Errorf("get the policy: %w", err)
	}
	if raw, ok := policy.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &current); err != nil {
			return nil, current, next, fmt.Errorf("read status of the policy: %w", err)
		}
	}
	nodes, err := o.nodes.List(labels.Everything())
	if err != nil {
		return nil, current, next, fmt.Errorf("list nodes: %w", err)
	}
	sets, err := o.sets.List(labels.Everything())
	if err != nil {
		return nil, current, next, fmt.Errorf("list DaemonSets: %w", err)
	}
	return policy, current, nextStatus(current.Conditions, o.enabled(), nodes, sets), nil
}

// Settled returns nil when the policy's status matches the world: not ready while an operand is
// held, else ready.
func (o *Operator) Settled(ctx context.Context) error {
	state := o.config.World.Recent()
	if err := operand.SyncToolkit(ctx, o.policies, state); err != nil {
		return err
	}
	if err := o.scaled(ctx, state.GPUOperatorDown); err != nil || state.GPUOperatorDown {
		return err
	}
	want := StateReady
	for _, n := range state.GPUNodes() {
		if (n.OperandNotReady != "" || n.MIGHalfApplied) && !state.ZeroGPUNodes && !n.NFDLabelsMissing {
			want = StateNotReady
		}
	}
	if err := o.spread(); err != nil {
		return err
	}
	_, current, next, err := o.computed(ctx)
	if err != nil {
		return err
	}
	reason := ""
	if c := meta.FindStatusCondition(current.Conditions, conditionReady); c != nil {
		reason = c.Reason
	}
	if current.State != want || next.State != want || (want == StateReady && !state.ZeroGPUNodes && reason != "Reconciled") {
		return fmt.Errorf("ClusterPolicy is %q (%s), not yet %q", current.State, reason, want)
	}
	return nil
}

// spread returns nil when every operand's DaemonSet covers the nodes with its label.
func (o *Operator) spread() error {
	for _, op := range o.enabled() {
		nodes, err := o.nodes.List(labels.SelectorFromSet(labels.Set{op.Label: "true"}))
		if err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		set, err := o.sets.DaemonSets(Namespace).Get(op.Name)
		if err != nil {
			return fmt.Errorf("get DaemonSet %s: %w", op.Name, err)
		}
		if current := int(set.Status.DesiredNumberScheduled); current != len(nodes) {
			return fmt.Errorf("DaemonSet %s covers %d nodes, not yet %d", op.Name, current, len(nodes))
		}
	}
	return nil
}
