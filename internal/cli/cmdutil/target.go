package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/upstream"
)

// TargetFlags select the cluster to work on: one with a site file, or a lab.
type TargetFlags struct {
	Site       string
	kubeconfig string
	context    string
	lab        string
	stack      string
	spine      string
	// HostsOf, if set, is the site whose hosts are connected to instead of the target's.
	HostsOf func(*site.Site) *site.Site
	// machines: the command can use a site of one machine, without a cluster.
	machines bool
}

// Add adds the flags to a command.
func (f *TargetFlags) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Site, "site", "", "site file of the cluster (firstlight site init writes an example)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: the lab)")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig")
	flags.StringVar(&f.lab, "lab", "", "name of the lab to use if no cluster is given (default \"lab\"); with --site, the file has only what differs from the lab's site")
	cmd.MarkFlagsMutuallyExclusive("kubeconfig", "lab")
}

// AddStack adds the flag that selects the GPU stack of a lab that the command starts.
func (f *TargetFlags) AddStack(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.stack, "stack", "", "GPU stack of the lab: "+strings.Join(component.Stacks(), ", ")+" (default \"minimal\", or that of the running lab)")
	cmd.MarkFlagsMutuallyExclusive("kubeconfig", "stack")
	cmd.MarkFlagsMutuallyExclusive("site", "stack")
	CompleteFlag(cmd, "stack", component.Stacks())
}

// Validate refuses invalid combinations of flags.
func (f *TargetFlags) Validate() error {
	if err := component.CheckStack(component.Stack(f.stack)); err != nil {
		return UsageErrorf("--stack: %w", err)
	}
	if err := CheckSpine(f.spine, f.Site); err != nil {
		return err
	}
	if f.Site != "" && f.OnLab() { // before a lab starts for it
		if _, err := os.Stat(f.Site); err != nil {
			return UsageErrorf("--site: %w", err)
		}
	}
	if f.spine == site.SpineSlurm && f.Site == "" {
		return UsageErrorf("--spine %s needs --site: the site file declares the cluster (examples/sites/slurm.yaml is an example)", f.spine)
	}
	if (f.kubeconfig != "" || f.context != "") && f.Site == "" {
		return UsageErrorf("--kubeconfig needs --site: the site file declares what the cluster must have (firstlight site init writes an example)")
	}
	return nil
}

// Target is a cluster with the site file that it is checked against.
type Target struct {
	Site                  *site.Site
	SiteFile, ProfileFile []byte
	Profile               *profile.Profile
	// Inputs are the files of the profiles of the site's groups, by site.Group.ProfileFile, and
	// pregate.DigestsFile.
	Inputs map[string][]byte
	Hosts  Hosts
	// ControlPlane waits for the control plane. Cluster also waits for monitoring and extras. Both
	// are nil without Kubernetes.
	ControlPlane, Cluster accept.Reach
	Kubeconfig            func(ctx context.Context) (path, context string, err error)
	// Versions and Digests are of a lab's programs; nil for a cluster.
	Versions map[string]string
	Digests  func(ctx context.Context) (map[string]string, error)
	// Lab is nil for a cluster.
	Lab *lab.Handle
	// owner is set if the lab was started by this command; the lab ends with it.
	owner *lab.Owner
}

// Open opens the target. Without a site file it attaches to the running lab, or starts a
// lab, and adds the extras to it; a cluster must have them already. Open returns as soon
// as the hosts answer: the cluster may still be starting.
func (f *TargetFlags) Open(ctx context.Context, board *display.Board, extras ...string) (*Target, error) {
	t := &Target{}
	var err error
	switch {
	case f.spine == site.SpineSingleNode:
		err = t.openThisMachine(ctx)
	case f.OnLab() && f.spine == site.SpineRay:
		over := func(path string) (*site.Site, []byte, error) {
			return site.LoadWith(path, "ray.yaml", site.RayExample())
		}
		err = t.openLab(ctx, f, over, board, append(slices.Clone(extras), component.ExtraRay))
	case f.OnLab():
		err = t.openLab(ctx, f, overFile(f.Site), board, extras)
	default:
		err = t.openSite(f)
	}
	switch {
	case err != nil:
	case t.Site.SingleNode():
		err = t.openMachine()
	default:
		hosts := t.Site
		if f.HostsOf != nil {
			hosts = f.HostsOf(t.Site)
		}
		err = t.openHosts(ctx, hosts, board)
	}
	if err != nil {
		return nil, errors.Join(err, Unobserved(t.Close(ctx)))
	}
	return t, nil
}

// openHosts connects to the hosts of a site over SSH.
func (t *Target) openHosts(ctx context.Context, s *site.Site, board *display.Board) error {
	pool, err := ssh.NewPool(ctx, s, ssh.Options{AgentSocket: os.Getenv("SSH_AUTH_SOCK"), Passphrase: passphrasePrompt(os.Stdin, board)})
	if err != nil {
		return Unobserved(err)
	}
	t.Hosts = pool
	if t.Site.OnSlurm() && t.Site.Slurm.Local {
		t.Hosts = withLogin{Hosts: pool, login: localhost.Hosts{
			Name: site.LocalHost, Timeout: t.Site.Workloads.Collective.Timeout.D() + t.Site.Reach.SSH.Timeout.D(), Environment: loginEnvironment,
		}}
	}
	return nil
}

// Args are the flags as given on the command line, for another command on the same target.
func (f *TargetFlags) Args() []string {
	return FlagArgs([3]string{"--site", f.Site}, [3]string{"--kubeconfig", f.kubeconfig}, [3]string{"--context", f.context}, [3]string{"--lab", f.lab})
}

// OnLab reports whether the target is a lab.
func (f *TargetFlags) OnLab() bool {
	return (f.Site == "" || f.lab != "") && (f.spine == "" || f.spine == site.SpineRay || f.spine == site.SpineK3s)
}

func labName(name string) string {
	if name == "" {
		return lab.DefaultName
	}
	return name
}

// openSite uses the cluster or the machine of a site file. Its spine is that of --spine, if that is given.
func (t *Target) openSite(f *TargetFlags) error {
	if err := t.load(f.Site); err != nil {
		return UsageErrorf("%w", err)
	}
	if err := requireSpine(t.Site, f.spine); err != nil {
		return err
	}
	switch {
	case t.Site.Kubernetes():
		return t.openCluster(f)
	case !f.machines:
		return UsageErrorf("%s: spine %s has no Kubernetes cluster, which this command needs", f.Site, t.Site.Spine)
	case f.kubeconfig != "" || f.context != "":
		return UsageErrorf("%s: spine %s has no Kubernetes cluster: remove --kubeconfig and --context", f.Site, t.Site.Spine)
	default:
		return nil
	}
}

// openCluster prefers the flags to the kubeconfig of the site file.
func (t *Target) openCluster(f *TargetFlags) error {
	path, name := t.Site.Reach.Kubernetes.Kubeconfig, t.Site.Reach.Kubernetes.Context
	if f.kubeconfig != "" {
		path, name = f.kubeconfig, ""
	}
	if f.context != "" {
		name = f.context
	}
	cluster, err := kube.Open(path, name)
	if err != nil {
		return UsageErrorf("%w", err)
	}
	t.Cluster = func(context.Context) (*kube.Cluster, error) { return cluster, nil }
	t.ControlPlane = t.Cluster
	t.Kubeconfig = func(context.Context) (string, string, error) { return path, name, nil }
	return nil
}

func (t *Target) load(path string) error {
	var err error
	if t.SiteFile, err = os.ReadFile(path); err != nil {
		return fmt.Errorf("cannot read site: %w", err)
	}
	if t.Site, err = site.Load(path); err != nil {
		return err
	}
	return t.loadProfile()
}

// overlay is the site of a lab, whose file is at path, with the keys of another text.
type overlay func(path string) (*site.Site, []byte, error)

// overFile is the overlay of a file; nil without one.
func overFile(over string) overlay {
	if over == "" {
		return nil
	}
	return func(path string) (*site.Site, []byte, error) { return site.LoadOver(path, over) }
}

// loadOver loads the site file at path with an overlay, if there is one.
func (t *Target) loadOver(path string, over overlay) error {
	if over == nil {
		return t.load(path)
	}
	var err error
	if t.Site, t.SiteFile, err = over(path); err != nil {
		return err
	}
	return t.loadProfile()
}

// openLab uses the site of the lab, with an overlay if it is not nil.
func (t *Target) openLab(ctx context.Context, f *TargetFlags, over overlay, board *display.Board, extras []string) error {
	name := labName(f.lab)
	h, err := attachLab(ctx, name, board)
	if errors.Is(err, lab.ErrNotRunning) {
		h, t.owner, err = lab.Spawn(ctx, lab.SpawnOptions{Name: name, Owned: true, Args: slices.Concat(f.labSpine(), StackArgs(f.stack), WithArgs(extras))})
	}
	if err != nil {
		return Unobserved(err)
	}
	if err := RequireStack(ctx, h, f.stack); err != nil {
		return err
	}
	t.Lab = h
	start := followStart(ctx, h, extras, func(e lab.Event) {
		if t.owner != nil || e.Kind == lab.KindBuild || e.Kind == lab.KindExtra {
			ShowLabEvent(board, e)
		}
	})
	if err := start.wait(ctx, lab.StepHosts); err != nil {
		return Unobserved(err)
	}
	if err := t.loadOver(filepath.Join(h.Dir, embedded.SiteFile), over); err != nil {
		if over != nil {
			return UsageErrorf("%w", err)
		}
		return Unobserved(fmt.Errorf("cannot read the site of lab %s: %w", name, err))
	}
	if f.spine != "" && t.Site.Spine != f.spine {
		return otherSpine(name, t.Site.Spine, f.spine)
	}
	path := t.Site.Reach.Kubernetes.Kubeconfig
	after := func(step string) accept.Reach {
		return func(ctx context.Context) (*kube.Cluster, error) {
			if err := start.wait(ctx, step); err != nil {
				return nil, err
			}
			return kube.Open(path, "")
		}
	}
	t.ControlPlane, t.Cluster = after(lab.StepCluster), after(stepAll)
	t.Kubeconfig = func(ctx context.Context) (string, string, error) { return path, "", start.wait(ctx, lab.StepCluster) }
	t.Versions, err = labVersions()
	t.Digests = func(ctx context.Context) (map[string]string, error) { return labDigests(ctx, h) }
	return err
}

// RequireStack refuses another GPU stack than that of a running lab; empty: any.
func RequireStack(ctx context.Context, h *lab.Handle, want string) error {
	if want == "" {
		return nil
	}
	st, err := h.Status(ctx)
	if err != nil {
		return Unobserved(err)
	}
	if have := string(st.Info.Stack); have != want {
		return UsageErrorf("lab %[1]s is running with the GPU stack %[2]s: stop it (firstlight lab down --name %[1]s) or use another lab", h.Name, have)
	}
	return nil
}

// StackArgs pass the GPU stack to the lab's own process.
func StackArgs(stack string) []string {
	if stack == "" {
		return nil
	}
	return []string{"--stack=" + stack}
}

// WithArgs pass extras to the lab's own process.
func WithArgs(extras []string) []string {
	if len(extras) == 0 {
		return nil
	}
	return []string{"--with=" + strings.Join(extras, ",")}
}

// labDigests hashes the programs that the lab's processes run.
func labDigests(ctx context.Context, h *lab.Handle) (map[string]string, error) {
	st, err := h.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range st.Components {
		if c.Identity.PID == 0 {
			continue // killed by a fault
		}
		// /proc gives the running file even if it was replaced on disk since.
		if out[c.Name], err = upstream.Digest(fmt.Sprintf("/proc/%d/exe", c.Identity.PID)); err != nil {
			return nil, fmt.Errorf("program of %s: %w", c.Name, err)
		}
	}
	return out, nil
}

// labEndTimeout limits the wait for the end of another command's lab.
const labEndTimeout = 10 * time.Minute

// attachLab attaches to a running lab. It waits for the end of a lab that is stopping,
// does not answer, or belongs to another command, and returns lab.ErrNotRunning then.
func attachLab(ctx context.Context, name string, board *display.Board) (*lab.Handle, error) {
	h, err := lab.Attach(ctx, name)
	if errors.Is(err, lab.ErrNotRunning) {
		return nil, err
	}
	if err == nil {
		var st lab.Status
		st, err = h.Status(ctx)
		if err == nil && !st.Owned && st.State != lab.StateStopping && st.State != lab.StateFailed {
			return h, nil
		}
	}
	board.Log("lab %s is stopping or used by another run: waiting for its end (--lab NAME uses another lab)", name)
	waiting, cancel := context.WithTimeout(ctx, labEndTimeout)
	defer cancel()
	if waitErr := lab.WaitGone(waiting, name); waitErr != nil {
		return nil, errors.Join(waitErr, err)
	}
	return nil, lab.ErrNotRunning
}

// labVersions are the pinned versions of a lab's programs.
func labVersions() (map[string]string, error) {
	pins, err := upstream.Pins()
	if err != nil {
		return nil, Unobserved(err)
	}
	versions := map[string]string{}
	for _, p := range pins {
		versions[p.Program] = p.Version
	}
	return versions, nil
}

// WaitMonitored waits until the cluster's monitoring is ready.
func (t *Target) WaitMonitored(ctx context.Context) error {
	_, err := t.Cluster(ctx)
	return err
}

// Close closes connections and stops a lab that Open started.
func (t *Target) Close(ctx context.Context) error {
	var errs []error
	if t.Hosts != nil {
		errs = append(errs, t.Hosts.Close())
	}
	if t.owner != nil {
		errs = append(errs, t.Lab.Stop(context.WithoutCancel(ctx)), t.owner.Close())
	}
	return errors.Join(errs...)
}

// RunOptions are the options of a run on the target that every command sets alike.
func (t *Target) RunOptions(board *display.Board) accept.Options {
	o := accept.Options{
		Site: t.Site, Profile: t.Profile, SiteFile: t.SiteFile, ProfileFile: t.ProfileFile, Inputs: t.Inputs, Cluster: t.Cluster,
		Charts: gate.Charts(t.Site, t.Profile), Hosts: t.Hosts.Keys(), ClusterEnds: t.owner != nil,
		Tool: Version, Versions: t.Versions, Digests: t.Digests,
		Note: func(text string) { board.Log("%s", text) },
	}
	switch {
	case t.Site.SingleNode():
		o.Machine = identifyMachine
	case t.Site.OnSlurm():
		o.Slurm = func(ctx context.Context, argv ...string) (ssh.Output, error) {
			return t.Hosts.Run(ctx, t.Site.Slurm.Host(), argv...)
		}
	}
	return o
}

// Run runs a plan, closes the board and writes the report. Its error has the exit code of
// the verdict that write returns.
func Run(ctx context.Context, o accept.Options, closeBoard func(), write func(r accept.Report, runErr error) (check.Verdict, error)) error {
	report, err := accept.Run(ctx, o)
	closeBoard()
	if input, ok := errors.AsType[*accept.InputError](err); ok {
		return UsageErrorf("%w", input)
	}
	if report.Run == "" {
		return Unobserved(err)
	}
	verdict, writeErr := write(report, err)
	if err := errors.Join(err, writeErr); err != nil {
		return Unobserved(err)
	}
	return VerdictError(verdict)
}

// OpenSite loads the site file at path with its profile. Without a path it is the site of
// the running lab, or else the lab's default.
func OpenSite(ctx context.Context, path string) (*site.Site, *profile.Profile, error) {
	if path == "" {
		if h, err := lab.Attach(ctx, lab.DefaultName); err == nil {
			path = filepath.Join(h.Dir, embedded.SiteFile)
		}
	}
	var loaded *site.Site
	var err error
	if path == "" {
		loaded, err = embedded.DefaultSite()
	} else {
		loaded, err = site.Load(path)
	}
	if err != nil {
		return nil, nil, UsageErrorf("%w", err)
	}
	p, err := profile.Load(loaded.Profile)
	if err != nil {
		return nil, nil, UsageErrorf("%w", err)
	}
	return loaded, p, nil
}

// GPUs counts the GPUs of a site: those of its profile on each node of its inventory.
func GPUs(s *site.Site, p *profile.Profile) int {
	return int(p.Node.GPUs.Value) * len(s.Inventory.Nodes)
}

// LabExtras are the extras that a lab needs for the checks that are included.
func LabExtras(include []string) []string {
	if slices.Contains(include, autoscale.Name) {
		return []string{component.ExtraAdapter, component.ExtraKarpenter}
	}
	return nil
}

// FlagArgs are the flags whose value is not their default, as evidence records them.
func FlagArgs(flags ...[3]string) []string {
	var args []string
	for _, f := range flags {
		if name, value, usual := f[0], f[1], f[2]; value != usual {
			args = append(args, name, value)
		}
	}
	return args
}
