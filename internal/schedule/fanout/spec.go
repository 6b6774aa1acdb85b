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

// PerShard is how many recipes a shard has when nobody says how many shards there
// are: what one control plane tests in well under the time that it takes to get a
// node for it.
const PerShard = 64

// mostInMap bounds what one ConfigMap holds. The API allows corev1.MaxSecretSize
// bytes of data for these too; a little is left for names.
const mostInMap = corev1.MaxSecretSize - 16<<10

// Spec says what is run, and with what.
type Spec struct {
	// RunID names the run: what it creates is labelled with it.
	RunID string
	// Namespace is one that exists; empty: one of the run's own, removed at the end.
	Namespace string
	// Image has firstlight in its PATH, and the programs of a control plane in its
	// cache. PullSecret, of a namespace that exists, is what it is pulled with.
	Image      string
	PullSecret string

	// Names are the recipes, in order; Shards parts of them are tested, Parallel at
	// one time.
	Names            []string
	Shards, Parallel int
	// Jobs and PerPlane are what a shard is told: recipes at one time, recipes a
	// control plane.
	Jobs, PerPlane int
	// Recipes is the tree as recipe.Pack makes it; nil: the one in the image.
	Recipes []byte

	// CPU and Memory are what a shard requests; of memory it gets no more.
	CPU, Memory resource.Quantity
	// PriorityClass is one that exists and preempts nothing; empty: one of the run's own.
	PriorityClass string
	// Within bounds the run, ShardWithin one try of a shard.
	Within, ShardWithin time.Duration
	// Keep leaves all that was created, for a look at it.
	Keep bool
}

// ShardsOf is how many shards so many recipes get by themselves.
func ShardsOf(recipes int) int { return max(1, (recipes+PerShard-1)/PerShard) }

// Namespaces and names of what is created.
func (s *Spec) namespace() string {
	return cmp.Or(s.Namespace, kube.NamespaceOf(s.RunID))
}

func (s *Spec) job() string { return "recipes-" + s.RunID }

// reportName is the ConfigMap that a shard's report is in.
func (s *Spec) reportName(shard any) string { return fmt.Sprintf("%s-%v", s.job(), shard) }

// Check finds what is wrong before anything is created.
func (s *Spec) Check() error {
	switch {
	case s.RunID == "":
		return errors.New("the run has no id: what it creates could not be found again")
	case s.Image == "":
		return errors.New("which image? The shards run firstlight from one: --image (docs/distribute.md says what must be in it)")
	case len(s.Names) == 0:
		return errors.New("no recipe is to be tested: that is no pass")
	case s.Shards < 1 || s.Shards > len(s.Names):
		return fmt.Errorf("%d shards for %d recipes: each shard needs at least one, and there is at least one shard", s.Shards, len(s.Names))
	case s.Parallel < 1:
		return fmt.Errorf("%d shards at one time: it is at least one", s.Parallel)
	case s.Jobs < 1 || s.PerPlane < 1:
		return fmt.Errorf("%d recipes at one time, %d a control plane: both are at least one", s.Jobs, s.PerPlane)
	case s.CPU.Sign() <= 0 || s.Memory.Sign() <= 0:
		return errors.New("a shard needs processors and memory: a control plane runs in it")
	case s.PullSecret != "" && s.Namespace == "":
		return errors.New("a secret to pull the image with is in a namespace that exists: --namespace")
	}
	return s.checkRest()
}

// checkRest is of what is wrong together.
func (s *Spec) checkRest() error {
	if names := slices.Sorted(slices.Values(s.Names)); len(slices.Compact(names)) != len(s.Names) {
		return errors.New("a recipe is to be tested twice")
	}
	if s.Within < time.Second || s.ShardWithin < time.Second || s.ShardWithin > s.Within {
		return fmt.Errorf("a shard may take %s, and all of it %s: a second at least, and a shard no longer than all", s.ShardWithin, s.Within)
	}
	return s.checkSizes()
}

func (s *Spec) checkSizes() error {
	if n := len(formatNames(s.Names)); n > mostInMap {
		return fmt.Errorf("the names of %d recipes have %d KiB, and a ConfigMap holds %d: test them in several runs", len(s.Names), n>>10, mostInMap>>10)
	}
	if n := len(s.Recipes); n > mostInMap {
		return fmt.Errorf("the recipe tree has %d KiB when packed, and a ConfigMap holds %d: "+
			"take out of it what no recipe reads (a name that begins with _ stays behind), or build an image whose firstlight ships with it", n>>10, mostInMap>>10)
	}
	return nil
}
