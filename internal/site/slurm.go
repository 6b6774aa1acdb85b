package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Slurm is the cluster of spine slurm.
type Slurm struct {
	// LoginHost runs Slurm's client commands: a name of inventory.systemNodes or inventory.nodes.
	LoginHost string `yaml:"loginHost,omitempty" json:"loginHost,omitempty"`
	// Local runs them on the machine that firstlight runs on, in place of LoginHost.
	Local bool `yaml:"local,omitempty" json:"local,omitempty"`
	// Partition has every GPU node of the inventory.
	Partition string `yaml:"partition" json:"partition"`
	// Account, QOS and Reservation of the jobs; empty: those of the user.
	Account     string `yaml:"account,omitempty" json:"account,omitempty"`
	QOS         string `yaml:"qos,omitempty" json:"qos,omitempty"`
	Reservation string `yaml:"reservation,omitempty" json:"reservation,omitempty"`
	// GPUType is the type of the generic resource gpu, as gres.conf has it; empty: any.
	GPUType string `yaml:"gpuType,omitempty" json:"gpuType,omitempty"`
	// Containers is ContainersNone or ContainersPyxis.
	Containers string `yaml:"containers,omitempty" json:"containers,omitempty"`
	// MPI is the plugin of srun --mpi, such as pmix; empty: MpiDefault of the cluster.
	MPI string `yaml:"mpi,omitempty" json:"mpi,omitempty"`
	// JobTimeout limits the wait of a small job for its nodes, and then its run.
	JobTimeout Duration `yaml:"jobTimeout,omitempty" json:"jobTimeout,omitempty"`
	// OutputDirectory has the output of batch jobs until it is read: a directory of all nodes, shared or not.
	OutputDirectory string `yaml:"outputDirectory,omitempty" json:"outputDirectory,omitempty"`
	// ServerPort is the port of the server of gate inference on its node.
	ServerPort int `yaml:"serverPort,omitempty" json:"serverPort,omitempty"`
	// Setup are shell commands before the program of a job of gates 6 to 8 on each node, such as "module load cuda".
	Setup string `yaml:"setup,omitempty" json:"setup,omitempty"`
	// Without are parts that the cluster does not have: WithoutProlog, WithoutEpilog, WithoutAccounting.
	Without []string `yaml:"without,omitempty" json:"without,omitempty"`
}

// The values of Slurm.Containers.
const (
	// ContainersNone: on the nodes themselves.
	ContainersNone = "none"
	// ContainersPyxis: in containers of enroot, with the options that Pyxis adds to srun.
	ContainersPyxis = "pyxis"
)

// The parts of Slurm.Without.
const (
	WithoutProlog     = "prolog"
	WithoutEpilog     = "epilog"
	WithoutAccounting = "accounting"
)

// LocalHost is the name of the machine that firstlight runs on, for Slurm.Local.
const LocalHost = "localhost"

// Host is the name of the host that runs the client commands.
func (s *Slurm) Host() string {
	if s.Local {
		return LocalHost
	}
	return s.LoginHost
}

// OnSlurm reports whether Slurm orchestrates the cluster.
func (s *Site) OnSlurm() bool { return s.Spine == SpineSlurm }

// Kubernetes reports whether the site has a Kubernetes cluster.
func (s *Site) Kubernetes() bool { return !s.SingleNode() && !s.OnSlurm() }

func (s *Slurm) setDefaults() {
	s.Containers = cmp.Or(s.Containers, ContainersNone)
	s.JobTimeout = cmp.Or(s.JobTimeout, Duration(DefaultJobTimeout))
	s.OutputDirectory = cmp.Or(s.OutputDirectory, "/tmp")
	s.ServerPort = cmp.Or(s.ServerPort, DefaultServerPort)
}

// SrunCommand begins the command line of a job of these nodes with all their GPUs. Its tasks are not bound: with
// TaskPlugin task/affinity srun binds each task to one core, which a rank would share with its NCCL proxy threads
// (srun(1), --cpu-bind).
func (s *Site) SrunCommand(name string, nodes []string, gpus int, limit time.Duration) []string {
	return command("srun", append(s.jobOptions(name, nodes, gpus, limit), "--cpu-bind=none"))
}

// SbatchCommand begins the command line that submits such a job. It prints the job's ID alone, and a job that has
// begun never begins again: its output would be that of two runs.
func (s *Site) SbatchCommand(name string, nodes []string, gpus int, limit time.Duration) []string {
	return command("sbatch", append(s.jobOptions(name, nodes, gpus, limit), "--parsable", "--no-requeue"))
}

func command(program string, options []string) []string {
	slices.Sort(options)
	return append([]string{program}, options...)
}

// jobOptions are those of a job of these nodes with all their GPUs, which no other job shares. It has all their
// memory, as DefMemPerNode may be small. limit is its time limit, in Slurm's minutes.
func (s *Site) jobOptions(name string, nodes []string, gpus int, limit time.Duration) []string {
	gres := "gpu:"
	if s.Slurm.GPUType != "" {
		gres += s.Slurm.GPUType + ":"
	}
	options := []string{
		"--job-name=" + name, "--partition=" + s.Slurm.Partition, fmt.Sprintf("--nodes=%d", len(nodes)), "--nodelist=" + strings.Join(nodes, ","),
		fmt.Sprintf("--gres=%s%d", gres, gpus), "--exclusive", "--mem=0", fmt.Sprintf("--time=%d", max(1, int(math.Ceil(limit.Minutes())))),
	}
	for option, value := range map[string]string{"--account=": s.Slurm.Account, "--qos=": s.Slurm.QOS, "--reservation=": s.Slurm.Reservation} {
		if value != "" {
			options = append(options, option+value)
		}
	}
	return options
}
