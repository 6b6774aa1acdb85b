package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Publication is the destination and identity of a shard's report.
type Publication struct {
	// Namespace and Name of the ConfigMap.
	Namespace, Name string
	// RunID of the run; Job and JobUID of the ConfigMap's owner.
	RunID, Job, JobUID string
	// Shard index and number of Shards; Tool is the firstlight version.
	Shard, Shards int
	Tool          string
}

// ParsePublication parses --publish, --publish-run and --publish-owner.
func ParsePublication(to, runID, owner string) (Publication, error) {
	namespace, name, ok := strings.Cut(to, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return Publication{}, fmt.Errorf("invalid --publish %q: must be NAMESPACE/NAME of a ConfigMap", to)
	}
	job, uid, ok := strings.Cut(owner, "/")
	if !ok || job == "" || uid == "" || runID == "" {
		return Publication{}, fmt.Errorf("--publish requires --publish-run RUN and --publish-owner JOB/UID, got %q and %q", runID, owner)
	}
	return Publication{Namespace: namespace, Name: name, RunID: runID, Job: job, JobUID: uid}, nil
}

// publishTimeout bounds the retries to publish a report: it covers a restart of the API
// server.
const publishTimeout = 3 * time.Minute

// Publish writes a report. It replaces the report of an earlier attempt of the same run,
// and no other ConfigMap.
func (p Publication) Publish(ctx context.Context, client kubernetes.Interface, r schedule.Report) error {
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: p.Name, Namespace: p.Namespace, Labels: labels(p.RunID, roleReport),
		OwnerReferences: owner(p.Job, types.UID(p.JobUID)),
	}}
	want.Labels[LabelShard] = strconv.Itoa(p.Shard)
	err := defaultLimits.seal(sealed{
		Format: sealedFormat, Run: p.RunID, Job: p.JobUID, Shard: p.Shard, Shards: p.Shards, Tool: p.Tool, Report: r,
	}, want)
	if err != nil {
		return fmt.Errorf("publish the report to %s/%s: %w", p.Namespace, p.Name, err)
	}
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Cap: 10 * time.Second, Steps: 1 << 20}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	var last error
	err = wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
		last = p.write(ctx, client, want)
		if permanent(last) {
			return false, last
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("publish the report to %s/%s: %w", p.Namespace, p.Name, errors.Join(last, context.Cause(ctx)))
	}
	return nil
}

// errNotOurs: a ConfigMap of this name exists that must not be replaced.
var errNotOurs = errors.New("it exists and is not a report of this run and Job")

func permanent(err error) bool {
	return errors.Is(err, errNotOurs) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err)
}

func (p Publication) write(ctx context.Context, client kubernetes.Interface, want *corev1.ConfigMap) error {
	maps := client.CoreV1().ConfigMaps(p.Namespace)
	_, err := maps.Create(ctx, want, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	existing, err := maps.Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if existing.Labels[kube.LabelRun] != p.RunID || !owned(existing, p.JobUID) {
		return errNotOurs
	}
	existing.Labels, existing.Annotations = want.Labels, want.Annotations
	existing.Data, existing.BinaryData = want.Data, want.BinaryData
	_, err = maps.Update(ctx, existing, metav1.UpdateOptions{})
	return err
}

func owned(o metav1.Object, jobUID string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return string(o.UID) == jobUID })
}

// ShouldRetry reports whether a shard observed none of its recipes. Any other result would
// only repeat.
func ShouldRetry(r schedule.Report) bool {
	return !slices.ContainsFunc(r.Recipes, func(res schedule.Result) bool { return res.Verdict != check.Unobserved && res.Verdict != check.Blocked })
}
