//nolint:forbidigo // the program of a shard: it begins here, and prints to its standard output
package fanout

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// shardEnv makes the test binary a shard, as firstlight recipe test is one. Its value
// says what goes wrong: BEHAVIOUR or, for one shard, INDEX:BEHAVIOUR. triedEnv is a
// directory in which tries are counted.
const (
	shardEnv = "FIRSTLIGHT_TEST_SHARD"
	triedEnv = "FIRSTLIGHT_TEST_TRIED"
)

func TestMain(m *testing.M) {
	if os.Getenv(shardEnv) != "" {
		os.Exit(shardMain())
	}
	os.Exit(m.Run())
}

// shardMain is a recipe test in which a recipe whose name has "bad" in it fails.
func shardMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("recipe test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	names, recipes := flags.String("names-file", "", ""), flags.String("recipes", "", "")
	shards, shard := flags.Int("shards", 0, ""), flags.Int("shard-index", -1, "")
	to, run, owner := flags.String("publish", "", ""), flags.String("publish-run", "", ""), flags.String("publish-owner", "", "")
	for _, ignored := range []string{"jobs", "per-plane"} {
		flags.String(ignored, "", "")
	}
	if err := flags.Parse(os.Args[3:]); err != nil { // after "recipe test"
		fmt.Println(err)
		return 2
	}
	fmt.Printf("shard %d begins\n", *shard)
	r, err := testedBy(*names, *recipes, *shard, *shards)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	p, err := ParsePublication(*to, *run, *owner)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	p.Shard, p.Shards, p.Tool = *shard, *shards, "test"
	return behave(ctx, p, r)
}

// testedBy is the report of the shard's part of the names.
func testedBy(namesFile, recipes string, shard, shards int) (schedule.Report, error) {
	names, err := ReadNames(namesFile)
	if err != nil {
		return schedule.Report{}, err
	}
	var mine []string
	for k, name := range names {
		if k%shards == shard {
			mine = append(mine, name)
		}
	}
	r := reportOf(mine...)
	for i := range r.Recipes {
		if strings.Contains(r.Recipes[i].Recipe, "bad") {
			r.Recipes[i].Verdict = check.Failed
		}
	}
	r.Conclude(mine)
	if recipes != "" {
		t, problems, err := recipe.Open(recipes, tree.Options{})
		if err != nil || problems.Err() != nil {
			return r, fmt.Errorf("%w %w", err, problems.Err())
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s has %d overlays", t.Label, len(t.Overlays)))
	}
	return r, nil
}

// behave does what the test wants of this shard, and otherwise publishes its report.
func behave(ctx context.Context, p Publication, r schedule.Report) int {
	which, what, one := strings.Cut(os.Getenv(shardEnv), ":")
	if !one {
		which, what = fmt.Sprint(p.Shard), which
	}
	if which != fmt.Sprint(p.Shard) {
		what = ""
	}
	switch what {
	case "hang":
		<-ctx.Done()
		return 143
	case "crash":
		fmt.Println("the control plane could not be started")
		return 3
	case "crash-once":
		mark := filepath.Join(os.Getenv(triedEnv), p.Name)
		if err := os.Mkdir(mark, 0o700); err == nil {
			return 1
		}
	case "usage":
		fmt.Println("unknown flag")
		return 2
	case "absent":
		return 127
	case "silent":
		return 0
	}
	cluster, err := kube.Open("", "")
	if err == nil {
		err = p.Publish(ctx, cluster.Client, r)
	}
	if err == nil && what == "tamper" {
		err = tamper(ctx, cluster, p)
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	if what == "late" { // it crashes after its report
		return 3
	}
	return 0
}

// tamper makes a failed recipe a good one.
func tamper(ctx context.Context, cluster *kube.Cluster, p Publication) error {
	m, err := cluster.Client.CoreV1().ConfigMaps(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	m.Data[plainKey] = strings.ReplaceAll(m.Data[plainKey], `"failed"`, `"passed"`)
	_, err = cluster.Client.CoreV1().ConfigMaps(p.Namespace).Update(ctx, m, metav1.UpdateOptions{})
	return err
}
