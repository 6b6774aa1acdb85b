package operand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/world"
)

// errToolkitChanged: the policy's status may still change.
var errToolkitChanged = errors.New("the environment of the ClusterPolicy's toolkit was changed")

// toolkitEnv is the container toolkit's environment in a cluster of k3s, as its administrator sets it
// (github.com/NVIDIA/gpu-operator/issues/374).
func toolkitEnv(s world.State) []any {
	variable := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	config := "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
	if s.K3s.ConfigOfHost {
		config = "/etc/containerd/config.toml"
	}
	out := []any{variable("CONTAINERD_CONFIG", config), variable("CONTAINERD_RUNTIME_CLASS", "nvidia")}
	if !s.K3s.SocketUnset {
		out = append(out, variable("CONTAINERD_SOCKET", "/run/k3s/containerd/containerd.sock"))
	}
	return out
}

// SyncToolkit sets the environment of a policy's toolkit in a cluster of k3s. It returns nil if nothing is to change.
func SyncToolkit(ctx context.Context, policies dynamic.ResourceInterface, s world.State) error {
	if s.Distribution != world.K3s {
		return nil
	}
	policy, err := policies.Get(ctx, policyName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // no chart is installed
	}
	if err != nil {
		return fmt.Errorf("get the policy: %w", err)
	}
	want := toolkitEnv(s)
	if have, _, _ := unstructured.NestedSlice(policy.Object, "spec", "toolkit", "env"); equality.Semantic.DeepEqual(have, want) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"toolkit": map[string]any{"env": want}}})
	if err != nil {
		return fmt.Errorf("encode the toolkit's environment: %w", err)
	}
	if _, err := policies.Patch(ctx, policyName, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("change the toolkit of the policy: %w", err)
	}
	return errToolkitChanged
}
