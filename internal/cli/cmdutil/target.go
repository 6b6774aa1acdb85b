package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/upstream"
)

// targetFlags say what is looked at: a cluster with its site, or a lab.
type targetFlags struct {
	site       string
	kubeconfig string
	context    string
	lab        string
}

func (f *targetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.site, "site", "", "site file of the cluster (firstlight site init writes one)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster; without one, the lab is used")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig")
	flags.StringVar(&f.lab, "lab", "", "name of the lab to use, when no cluster is given (default \"lab\")")
	cmd.MarkFlagsMutuallyExclusive("kubeconfig", "lab")
	cmd.MarkFlagsMutuallyExclusive("site", "lab")
}

// check refuses combinations that make no sense, before anything is done.
func (f *targetFlags) check() error {
	if (f.kubeconfig != "" || f.context != "") && f.site == "" {
		return usage("--kubeconfig needs --site: the site file says what the cluster has to be (firstlight site init writes an example)")
	}
	return nil
}

// target is a cluster that can be reached, with the site it is held against.
type target struct {
	site                  *site.Site
	siteFile, profileFile []byte
	profile               *profile.Profile
	hosts                 *ssh.Pool
	// controlPlane gives the cluster as soon as its control plane works, cluster when
	// all of it is up: what watches it, and extras.
	controlPlane, cluster accept.Reach
	kubeconfig            func(ctx context.Context) (path, context string, err error)
	versions              map[string]string
	digests               func(ctx context.Context) (map[string]string, error)
	// labHandle is nil for a cluster.
	labHandle *lab.Handle
	// owner keeps up a lab that was started for this command and ends with it.
	owner *lab.Owner
}

// reach finds the target, starting a lab when none is given and none is up. A lab
// is made to have the extras that the command needs; of a cluster, nothing is
// asked. The cluster may still be coming up when it returns; the hosts answer.
func (f *targetFlags) reach(ctx context.Context, board *display.Board, extras ...string) (*target, error) {
	t := &target{}
	var err error
	if f.site != "" {
		err = t.given(f)
	} else {
		err = t.lab(ctx, labNeeded(f.lab), board, extras)
	}
	if err == nil {
		t.hosts, err = ssh.NewPool(t.site)
		err = infrastructure(err)
	}
	if err != nil {
		return nil, errors.Join(err, infrastructure(t.close(ctx)))
	}
	return t, nil
}

// given takes a site file and the kubeconfig of flags or site.
func (t *target) given(f *targetFlags) error {
	if err := t.load(f.site); err != nil {
		return usage("%w", err)
	}
	path, name := t.site.Reach.Kubernetes.Kubeconfig, t.site.Reach.Kubernetes.Context
	if f.kubeconfig != "" {
		path, name = f.kubeconfig, ""
	}
	if f.context != "" {
		name = f.context
	}
	cluster, err := kube.Open(path, name)
	if err != nil {
		return usage("%w", err)
	}
	t.cluster = func(context.Context) (*kube.Cluster, error) { return cluster, nil }
	t.controlPlane = t.cluster
	t.kubeconfig = func(context.Context) (string, string, error) { return path, name, nil }
	return nil
}

func (t *target) load(path string) error {
	var err error
	if t.siteFile, err = os.ReadFile(path); err != nil {
		return fmt.Errorf("read site: %w", err)
	}
	if t.site, err = site.Load(path); err != nil {
		return err //nolint:wrapcheck // names the file and lines
	}
	if t.profileFile, err = profile.Raw(t.site.Profile); err != nil {
		return err //nolint:wrapcheck // names the profile
	}
	t.profile, err = profile.Load(t.site.Profile)
	return err //nolint:wrapcheck // names the profile
}

// lab attaches to a lab that is up, which gains the extras that it lacks, or
// starts one that has them and ends with this command.
func (t *target) lab(ctx context.Context, name string, board *display.Board, extras []string) error {
	h, err := attachLasting(ctx, name, board)
	if errors.Is(err, lab.ErrNotRunning) {
		h, t.owner, err = lab.Spawn(ctx, lab.SpawnOptions{Name: name, Owned: true, Args: withArgs(extras)})
	}
	if err != nil {
		return infrastructure(err)
	}
	t.labHandle = h
	start := followStart(ctx, h, extras, func(e lab.Event) {
		if t.owner != nil || e.Kind == lab.KindBuild || e.Kind == lab.KindExtra {
			showLabEvent(board, e)
		}
	})
	if err := start.wait(ctx, lab.StepHosts); err != nil {
		return infrastructure(err)
	}
	if err := t.load(filepath.Join(h.Dir, embedded.SiteFile)); err != nil {
		return infrastructure(fmt.Errorf("read the site of lab %s: %w", name, err))
	}
	path := t.site.Reach.Kubernetes.Kubeconfig
	after := func(stage string) accept.Reach {
		return func(ctx context.Context) (*kube.Cluster, error) {
			if err := start.wait(ctx, stage); err != nil {
				return nil, err
			}
			return kube.Open(path, "") //nolint:wrapcheck // says what it was doing
		}
	}
	t.controlPlane, t.cluster = after(lab.StepCluster), after(wholeLab)
	t.kubeconfig = func(ctx context.Context) (string, string, error) { return path, "", start.wait(ctx, lab.StepCluster) }
	t.versions, err = labVersions()
	t.digests = func(ctx context.Context) (map[string]string, error) { return labDigests(ctx, h) }
	return err
}

// labDigests are those of the programs that a lab's processes really run.
func labDigests(ctx context.Context, h *lab.Handle) (map[string]string, error) {
	st, err := h.Status(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // says which lab
	}
	out := map[string]string{}
	for _, c := range st.Components {
		if c.Identity.PID == 0 {
			continue // a fault has ended it
		}
		// The file that the process runs, also where another has taken its place since.
		if out[c.Name], err = upstream.Digest(fmt.Sprintf("/proc/%d/exe", c.Identity.PID)); err != nil {
			return nil, fmt.Errorf("program of %s: %w", c.Name, err)
		}
	}
	return out, nil
}

// attachLasting attaches to a lab that is up and stays up. One that belongs to
// another walk ends with that walk, and one that is stopping, or no longer
// answers, ends soon: their end is waited for, and then there is none.
func attachLasting(ctx context.Context, name string, board *display.Board) (*lab.Handle, error) {
	h, err := lab.Attach(ctx, name)
	if errors.Is(err, lab.ErrNotRunning) {
		return nil, err //nolint:wrapcheck // names the lab
	}
	if err == nil {
		var st lab.Status
		st, err = h.Status(ctx)
		if err == nil && !st.Owned && st.State != lab.StateStopping && st.State != lab.StateFailed {
			return h, nil
		}
	}
	board.Log("lab %s is ending, or belongs to another walk: waiting for its end (another lab: --lab NAME)", name)
	waiting, cancel := context.WithTimeout(ctx, waitForLab)
	defer cancel()
	if gone := lab.WaitGone(waiting, name); gone != nil {
		return nil, errors.Join(gone, err)
	}
	return nil, lab.ErrNotRunning
}

// waitForLab is how long another walk's lab may take to end.
const waitForLab = 10 * time.Minute

// labVersions are the pins, for the evidence.
func labVersions() (map[string]string, error) {
	pins, err := upstream.Pins()
	if err != nil {
		return nil, infrastructure(err)
	}
	versions := map[string]string{}
	for _, p := range pins {
		versions[p.Program] = p.Version
	}
	return versions, nil
}

// monitored waits until what watches the cluster is up.
func (t *target) monitored(ctx context.Context) error {
	_, err := t.cluster(ctx)
	return err
}

// close ends what reach began: connections, and a lab that was started for it.
func (t *target) close(ctx context.Context) error {
	var errs []error
	if t.hosts != nil {
		errs = append(errs, t.hosts.Close())
	}
	if t.owner != nil {
		errs = append(errs, t.labHandle.Stop(context.WithoutCancel(ctx)), t.owner.Close())
	}
	return errors.Join(errs...)
}
