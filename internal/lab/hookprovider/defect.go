package hookprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/world"
)

// Kinds of defects, for rehearsals: a rehearsed night has to have cells that fail, and a
// rehearsed hand-over steps that go wrong.
const (
	// Before a test, in the deployment's lab.
	defectCordoned = "cordoned" // its nodes take no pods
	defectNoGPUs   = "no-gpus"  // its GPUs have fallen off the bus
	defectSlow     = "slow"     // pods are placed, and wait for their start
	defectHang     = "hang"     // the test does nothing until it is ended
	// In place of the verb.
	defectProvision = "provision-fails"
	defectTeardown  = "teardown-fails"
	// defectForgets answers that the deployment is gone, and leaves it.
	defectForgets = "forgets"
)

// verbs of the defects.
func verbs() map[string]hook.Verb {
	return map[string]hook.Verb{
		defectCordoned: hook.Test, defectNoGPUs: hook.Test, defectSlow: hook.Test, defectHang: hook.Test,
		defectProvision: hook.Provision, defectTeardown: hook.Teardown, defectForgets: hook.Teardown,
	}
}

// Defect is something that goes wrong on purpose, as often as Times says.
type Defect struct {
	Reservation string `json:"reservation" need:"true" yaml:"reservation"`
	// Version and Intent choose the tests, Intent also what is provisioned; empty: any.
	Version string          `json:"version,omitempty" yaml:"version"`
	Intent  config.Intent `json:"intent,omitempty" yaml:"intent"`
	// Times is how often it is still to happen.
	Times  int    `json:"times" yaml:"times"`
	Defect string `json:"defect" need:"true" yaml:"defect"`
	// For is how long pods wait that are slow; empty: 30s.
	For string `json:"for,omitempty" yaml:"for"`
}

const usuallySlow = 30 * time.Second

// concerns tells whether a request meets it.
func (d Defect) concerns(r hook.Request) bool {
	return d.Times > 0 && verbs()[d.Defect] == r.Verb && d.Reservation == r.Reservation.Name &&
		(d.Version == "" || d.Version == r.Version) && (d.Intent == "" || d.Intent == r.Intent)
}

func (d Defect) delay() (time.Duration, error) {
	if d.Defect != defectSlow || d.For == "" {
		return usuallySlow, nil
	}
	t, err := time.ParseDuration(d.For)
	if err != nil || t <= 0 {
		return 0, fmt.Errorf("for is %q: want a duration, as 30s", d.For)
	}
	return t, nil
}

// errOnPurpose says that nothing else went wrong.
var errOnPurpose = errors.New("on purpose: defects.yaml says so")

// instead is what comes of a verb in the place of what it does.
func injectedError(d *Defect, err error) error {
	if err != nil || d.Defect == defectForgets {
		return err
	}
	return fmt.Errorf("%s: %w", d.Defect, errOnPurpose)
}

// putInto makes a test's defect real. held is how long pods have to wait for their start.
func (d *Defect) putInto(ctx context.Context, handle *lab.Handle, cluster *kube.Cluster) (held time.Duration, err error) {
	if d == nil {
		return 0, nil
	}
	switch d.Defect {
	case defectCordoned:
		return 0, cordon(ctx, cluster)
	case defectNoGPUs:
		return 0, loseGPUs(ctx, handle, cluster)
	case defectSlow:
		return d.delay()
	case defectHang:
		<-ctx.Done()
		return 0, fmt.Errorf("it hung until it was ended: %w", context.Cause(ctx))
	default:
		return 0, fmt.Errorf("it is none of a test: %w", errOnPurpose)
	}
}

func cordon(ctx context.Context, cluster *kube.Cluster) error {
	nodes, err := gpuNodes(ctx, cluster)
	if err != nil {
		return err
	}
	for i := range nodes {
		patch := []byte(`{"spec":{"unschedulable":true}}`)
		if _, err := cluster.Client.CoreV1().Nodes().Patch(ctx, nodes[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("cordon node %s: %w", nodes[i].Name, err)
		}
	}
	return nil
}

// loseGPUs breaks all GPUs in the lab's world, and returns when the nodes offer none.
func loseGPUs(ctx context.Context, handle *lab.Handle, cluster *kube.Cluster) error {
	nodes, err := gpuNodes(ctx, cluster)
	if err != nil {
		return err
	}
	for i := range nodes {
		for gpu := range kube.Count(nodes[i].Status.Capacity, kube.GPUResource) {
			fault, err := json.Marshal(world.Fault{Kind: "gpu-off-bus", Target: fmt.Sprintf("%s/gpu%d", nodes[i].Name, gpu)})
			if err != nil {
				return fmt.Errorf("encode the fault: %w", err)
			}
			resp, err := handle.Do(ctx, http.MethodPost, "/world/faults", bytes.NewReader(fault))
			if err != nil {
				return err //nolint:wrapcheck // says what was asked
			}
			_ = resp.Body.Close() // it says what it was told
		}
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		nodes, err := gpuNodes(ctx, cluster)
		if err != nil {
			return err
		}
		offered := 0
		for i := range nodes {
			offered += kube.Count(nodes[i].Status.Allocatable, kube.GPUResource)
		}
		if offered == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d GPUs are still offered: %w", offered, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
