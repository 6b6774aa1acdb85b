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
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/world"
)

// Defects for simulations.
const (
	// Injected into the lab before a test.
	defectCordoned = "cordoned" // cordons its nodes
	defectNoGPUs   = "no-gpus"  // its GPUs fall off the bus
	defectSlow     = "slow"     // its pods start late
	defectHang     = "hang"     // the test hangs until its timeout
	// Injected instead of the verb.
	defectProvision = "provision-fails"
	defectTeardown  = "teardown-fails"
	// defectForgets reports a deployment as deleted and keeps it.
	defectForgets = "forgets"
)

// verbs returns the verb of each defect.
func verbs() map[string]hook.Verb {
	return map[string]hook.Verb{
		defectCordoned: hook.Test, defectNoGPUs: hook.Test, defectSlow: hook.Test, defectHang: hook.Test,
		defectProvision: hook.Provision, defectTeardown: hook.Teardown, defectForgets: hook.Teardown,
	}
}

// Defect is a failure that is injected Times times.
type Defect struct {
	Reservation string `json:"reservation" need:"true" yaml:"reservation"`
	// Version and Intent select tests; Intent also selects provisions; empty: any.
	Version string        `json:"version,omitempty" yaml:"version"`
	Intent  config.Intent `json:"intent,omitempty" yaml:"intent"`
	// Times is the number of injections left.
	Times  int    `json:"times" yaml:"times"`
	Defect string `json:"defect" need:"true" yaml:"defect"`
	// For is the delay of slow pods; empty: 30s.
	For string `json:"for,omitempty" yaml:"for"`
}

const usuallySlow = 30 * time.Second

// matches reports whether the defect applies to a request.
func (d Defect) matches(r hook.Request) bool {
	return d.Times > 0 && verbs()[d.Defect] == r.Verb && d.Reservation == r.Reservation.Name &&
		(d.Version == "" || d.Version == r.Version) && (d.Intent == "" || d.Intent == r.Intent)
}

func (d Defect) delay() (time.Duration, error) {
	if d.Defect != defectSlow || d.For == "" {
		return usuallySlow, nil
	}
	t, err := time.ParseDuration(d.For)
	if err != nil || t <= 0 {
		return 0, fmt.Errorf("invalid for %q: must be a duration such as 30s", d.For)
	}
	return t, nil
}

// errOnPurpose marks injected failures.
var errOnPurpose = errors.New("injected by defects.yaml")

// injectedError returns the result of a verb with a defect.
func injectedError(d *Defect, err error) error {
	if err != nil || d.Defect == defectForgets {
		return err
	}
	return fmt.Errorf("%s: %w", d.Defect, errOnPurpose)
}

// putInto injects the defect of a test and returns the start delay of pods.
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
		return 0, fmt.Errorf("hung until the timeout: %w", context.Cause(ctx))
	default:
		return 0, fmt.Errorf("not a defect of a test: %w", errOnPurpose)
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

// loseGPUs breaks all GPUs of the lab and waits until the nodes offer none.
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
				return err
			}
			_ = resp.Body.Close() // the body repeats the request
		}
	}
	return poll.Until(ctx, every, "the loss of all GPUs", func(ctx context.Context) error {
		nodes, err := gpuNodes(ctx, cluster)
		if err != nil {
			return poll.Stop(err)
		}
		offered := 0
		for i := range nodes {
			offered += kube.Count(nodes[i].Status.Allocatable, kube.GPUResource)
		}
		if offered > 0 {
			return fmt.Errorf("%d GPUs are still allocatable", offered)
		}
		return nil
	})
}
