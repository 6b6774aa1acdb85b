package fanout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// PerShard is the default number of recipes in a shard: one control plane tests them in
// less time than provisioning a node takes.
const PerShard = 64

// maxConfigMapBytes bounds the data of one ConfigMap: the API's limit, less a reserve for
// names.
const maxConfigMapBytes = corev1.MaxSecretSize - 16<<10

// Spec describes a run.
type Spec struct {
	// RunID is the label value of the run's objects.
	RunID string
	// Namespace that exists; empty for the run's own, deleted at the end.
	Namespace string
	// Image with firstlight in its PATH and the control plane's programs in its cache.
	// PullSecret is its pull secret in an existing namespace.
	Image      string
	PullSecret string

	// Names of the recipes in order, split into Shards of which Parallel run concurrently.
	Names            []string
	Shards, Parallel int
	// Jobs and PerPlane of a shard: concurrent recipes, recipes per control plane.
	Jobs, PerPlane int
	// Recipes is the tree as recipe.Pack writes it; nil for the image's tree.
	Recipes []byte

	// CPU and Memory requests of a shard; Memory is also the limit.
	CPU, Memory resource.Quantity
	// PriorityClass that exists and does not preempt; empty for the run's own.
	PriorityClass string
	// Within bounds the run, ShardWithin one attempt of a shard.
	Within, ShardWithin time.Duration
	// Keep retains the run's objects for inspection.
	Keep bool
}

// ShardsOf is the default number of shards for a number of recipes.
func ShardsOf(recipes int) int { return max(1, (recipes+PerShard-1)/PerShard) }

// Names of the run's objects.
func (s *Spec) namespace() string {
	return cmp.Or(s.Namespace, kube.NamespaceOf(s.RunID))
}

func (s *Spec) job() string { return "recipes-" + s.RunID }

// reportName is the ConfigMap of a shard's report.
func (s *Spec) reportName(shard any) string { return fmt.Sprintf("%s-%v", s.job(), shard) }

// Check validates the spec.
func (s *Spec) Check() error {
	switch {
	case s.RunID == "":
		return errors.New("the run has no id")
	case s.Image == "":
		return errors.New("--image is required: the shards run firstlight from it (docs/distribute.md lists its contents)")
	case len(s.Names) == 0:
		return errors.New("no recipes selected; refusing to report a pass")
	case s.Shards < 1 || s.Shards > len(s.Names):
		return fmt.Errorf("invalid number of shards %d for %d recipes: must be at least 1 and at most the number of recipes", s.Shards, len(s.Names))
	case s.Parallel < 1:
		return fmt.Errorf("invalid number of concurrent shards %d: must be at least 1", s.Parallel)
	case s.Jobs < 1 || s.PerPlane < 1:
		return fmt.Errorf("invalid limits: %d concurrent recipes, %d recipes per control plane: must be at least 1", s.Jobs, s.PerPlane)
	case s.CPU.Sign() <= 0 || s.Memory.Sign() <= 0:
		return errors.New("invalid CPU or memory of a shard: must be above 0")
	case s.PullSecret != "" && s.Namespace == "":
		return errors.New("a pull secret requires an existing namespace: --namespace")
	}
	return s.checkRest()
}

// checkRest validates combinations of fields.
func (s *Spec) checkRest() error {
	if names := slices.Sorted(slices.Values(s.Names)); len(slices.Compact(names)) != len(s.Names) {
		return errors.New("invalid selection: duplicate recipe")
	}
	if s.Within < time.Second || s.ShardWithin < time.Second || s.ShardWithin > s.Within {
		return fmt.Errorf("invalid timeouts: %s for a shard, %s for the run: must be at least 1s, and the shard's at most the run's", s.ShardWithin, s.Within)
	}
	return s.checkSizes()
}

func (s *Spec) checkSizes() error {
	if n := len(formatNames(s.Names)); n > maxConfigMapBytes {
		return fmt.Errorf("the names of %d recipes take %d KiB, the limit of a ConfigMap is %d: test them in several runs", len(s.Names), n>>10, maxConfigMapBytes>>10)
	}
	if n := len(s.Recipes); n > maxConfigMapBytes {
		return fmt.Errorf("the packed recipe tree takes %d KiB, the limit of a ConfigMap is %d: "+
			"remove files that no recipe reads (names that begin with _ are not packed), or build an image with the tree", n>>10, maxConfigMapBytes>>10)
	}
	return nil
}
