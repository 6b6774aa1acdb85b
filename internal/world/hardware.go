package world

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed hardware.yaml
var hardwareYAML []byte

// Hardware has the physical figures of one kind of machine and fabric.
type Hardware struct {
	GPU       HardwareGPU       `yaml:"gpu"`
	Node      HardwareNode      `yaml:"node"`
	Software  HardwareSoftware  `yaml:"software"`
	Fabric    HardwareFabric    `yaml:"fabric"`
	Training  HardwareTraining  `yaml:"training"`
	Storage   HardwareStorage   `yaml:"storage"`
	Inference HardwareInference `yaml:"inference"`
}

// HardwareGPU has the figures of one GPU.
type HardwareGPU struct {
	Product            string   `yaml:"product"`
	Architecture       string   `yaml:"architecture"`
	ComputeCapability  string   `yaml:"computeCapability"`
	DeviceID           string   `yaml:"deviceID"`
	PartNumber         string   `yaml:"partNumber"`
	MemoryMiB          int      `yaml:"memoryMiB"`
	ReservedMiB        int      `yaml:"reservedMiB"`
	IdleWatts          float64  `yaml:"idleWatts"`
	TDPWatts           float64  `yaml:"tdpWatts"`
	MinLimitWatts      float64  `yaml:"minLimitWatts"`
	MaxLimitWatts      float64  `yaml:"maxLimitWatts"`
	IdleTemp           float64  `yaml:"idleTemp"`
	LoadTemp           float64  `yaml:"loadTemp"`
	SlowdownTemp       int      `yaml:"slowdownTemp"`
	ShutdownTemp       int      `yaml:"shutdownTemp"`
	MemorySlowdownTemp int      `yaml:"memorySlowdownTemp"`
	IdleSMClock        int      `yaml:"idleSMClock"`
	MaxSMClock         int      `yaml:"maxSMClock"`
	LoadSMClock        int      `yaml:"loadSMClock"`
	MatmulTFLOPS       float64  `yaml:"matmulTFLOPS"` // sustained, large BF16 matrix products
	MemClock           int      `yaml:"memClock"`
	VideoClock         int      `yaml:"videoClock"`
	NVLinks            int      `yaml:"nvlinks"`
	NVLinkGBps         float64  `yaml:"nvlinkGBps"`
	PCIeGen            int      `yaml:"pcieGen"`
	PCIeWidth          int      `yaml:"pcieWidth"`
	RemapBanks         int      `yaml:"remapBanks"`
	BusIDs             []string `yaml:"busIDs"`
}

// HardwareNode has the figures of one server.
type HardwareNode struct {
	GPUs           int     `yaml:"gpus"`
	HCAs           int     `yaml:"hcas"`           // compute fabric ports; 0 without a compute fabric
	NVLinkDomain   int     `yaml:"nvlinkDomain"`   // nodes that NVSwitches outside of them connect; 0: none
	BasePowerWatts float64 `yaml:"basePowerWatts"` // without GPUs
	MaxPowerWatts  float64 `yaml:"maxPowerWatts"`
	StandbyWatts   float64 `yaml:"standbyWatts"` // host powered off
	WeightKg       float64 `yaml:"weightKg"`
	InletTemp      float64 `yaml:"inletTemp"`
	CPUs           int     `yaml:"cpus"`
	Sockets        int     `yaml:"sockets"` // NUMA nodes
	MemoryGiB      int     `yaml:"memoryGiB"`
	HugePages      int     `yaml:"hugePages"` // 2 MiB pages reserved at boot
	Governor       string  `yaml:"governor"`  // CPU frequency governor; empty without frequency scaling
	Arch           string  `yaml:"arch"`      // as Kubernetes names it; empty: amd64
}

// HardwareSoftware has the software versions of a node.
type HardwareSoftware struct {
	Driver      string `yaml:"driver"`
	OtherDriver string `yaml:"otherDriver"`
	CUDA        string `yaml:"cuda"`
	VBIOS       string `yaml:"vbios"`
	DCGM4       string `yaml:"dcgm4"`
	DCGM3       string `yaml:"dcgm3"`
	OS          string `yaml:"os"` // in os.yaml
	BoardID     string `yaml:"boardID"`
}

// HardwareFabric has the figures of the network and its collectives.
type HardwareFabric struct {
	NodesPerLeaf      int      `yaml:"nodesPerLeaf"`
	SwitchPorts       int      `yaml:"switchPorts"`
	Lane              float64  `yaml:"lane"`
	Width             int      `yaml:"width"`
	Firmware          string   `yaml:"firmware"`
	OtherFirmware     string   `yaml:"otherFirmware"`
	CAType            string   `yaml:"caType"`
	DeviceID          int      `yaml:"deviceID"`
	Board             string   `yaml:"board"`
	MTU               int      `yaml:"mtu"`     // bytes
	PKeys             []uint16 `yaml:"pkeys"`   // P_Key table of each port
	PCIeGTs           float64  `yaml:"pcieGTs"` // per lane of an adapter's link
	PCIeWidth         int      `yaml:"pcieWidth"`
	RDMAResource      string   `yaml:"rdmaResource"`
	BusIDs            []string `yaml:"busIDs"`
	NVLinkGBps        float64  `yaml:"nvlinkGBps"`
	NVLSGBps          float64  `yaml:"nvlsGBps"`
	TwoNodeGBps       float64  `yaml:"twoNodeGBps"`
	ManyNodesGBps     float64  `yaml:"manyNodesGBps"`
	RailGBps          float64  `yaml:"railGBps"`
	SocketGBps        float64  `yaml:"socketGBps"`
	NoGPUDirectFactor float64  `yaml:"noGPUDirectFactor"`
	NodeLatencyUs     float64  `yaml:"nodeLatencyUs"`
	RailLatencyUs     float64  `yaml:"railLatencyUs"`
	// Ethernet is set if the ports are of RoCE; nil for InfiniBand.
	Ethernet *HardwareEthernet `yaml:"ethernet"`
	// EFA is set if the ports are Elastic Fabric Adapters.
	EFA *HardwareEFA `yaml:"efa"`
}

// HardwareEFA has the software of Elastic Fabric Adapters.
type HardwareEFA struct {
	Driver      string `yaml:"driver"`
	OtherDriver string `yaml:"otherDriver"`
	Libfabric   string `yaml:"libfabric"` // version of its provider
}

// HardwareEthernet is how the ports of a RoCE fabric are configured.
type HardwareEthernet struct {
	MTU      int `yaml:"mtu"`      // bytes, of the network devices
	Priority int `yaml:"priority"` // of RDMA traffic
	DSCP     int `yaml:"dscp"`     // of RDMA traffic
}

// HardwareTraining is the step-time model.
type HardwareTraining struct {
	// Model is the training configuration that the figures are for.
	Model                 string  `yaml:"model"`
	TokensPerGPUPerSecond float64 `yaml:"tokensPerGPUPerSecond"`
	FlopsPerToken         float64 `yaml:"flopsPerToken"`
	PeakTFLOPS            float64 `yaml:"peakTFLOPS"`
	Sequence              int     `yaml:"sequence"`
	LocalBatch            int     `yaml:"localBatch"`
	RankSpread            float64 `yaml:"rankSpread"`
	Jitter                float64 `yaml:"jitter"`
	WarmupFactor          float64 `yaml:"warmupFactor"`
	WarmupSteps           int     `yaml:"warmupSteps"`
	WallSecondsPerStep    float64 `yaml:"wallSecondsPerStep"`
}

// HardwareStorage is the shared file system for checkpoints, and the file system of a node's disk.
type HardwareStorage struct {
	FileSystem string  `yaml:"fileSystem"`
	Source     string  `yaml:"source"`
	FreeGiB    float64 `yaml:"freeGiB"`
	WriteMBps  float64 `yaml:"writeMBps"` // of one node
	ReadMBps   float64 `yaml:"readMBps"`
	Disk       string  `yaml:"disk"`
	DiskSource string  `yaml:"diskSource"`
}

// HardwareInference is the serving model.
type HardwareInference struct {
	LoadSeconds            float64 `yaml:"loadSeconds"`
	PrefillTokensPerSecond float64 `yaml:"prefillTokensPerSecond"`
	TTFTBaseMs             float64 `yaml:"ttftBaseMs"`
	TPOTMs                 float64 `yaml:"tpotMs"`
	TPOTPerSequenceMs      float64 `yaml:"tpotPerSequenceMs"`
	KVCacheTokens          int     `yaml:"kvCacheTokens"`
	BrokenKVCacheTokens    int     `yaml:"brokenKVCacheTokens"`
	MaxNumSeqs             int     `yaml:"maxNumSeqs"`
}

// HardwareKinds returns the names of all kinds of hardware.
func HardwareKinds() []string {
	all, err := hardware()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

// LoadHardware returns the figures of a kind.
func LoadHardware(name string) (Hardware, error) {
	all, err := hardware()
	if err != nil {
		return Hardware{}, err
	}
	hw, ok := all[name]
	if !ok {
		return Hardware{}, fmt.Errorf("unknown hardware %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return hw, nil
}

func hardware() (map[string]Hardware, error) {
	all := map[string]Hardware{}
	dec := yaml.NewDecoder(bytes.NewReader(hardwareYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("decode hardware figures: %w", err)
	}
	return all, nil
}
