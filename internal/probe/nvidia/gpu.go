package nvidia

// SMILog is one document of nvidia-smi -q -x.
type SMILog struct {
	// DTD is the document type: "nvsmi_device_v13.dtd".
	DTD    string `json:"dtd,omitempty"`
	Driver string `json:"driver"`
	CUDA   string `json:"cuda,omitempty"`
	// Attached is the number of GPUs that the driver reports.
	Attached int   `json:"attached"`
	GPUs     []GPU `json:"gpus"`
}

// GPU is one GPU.
type GPU struct {
	// Index is the position in the document, which is the NVML index.
	Index   int    `json:"index"`
	BusID   string `json:"busID"` // "0000:1b:00.0"
	UUID    string `json:"uuid"`
	Serial  string `json:"serial,omitempty"`
	Product string `json:"product"`
	VBIOS   string `json:"vbios,omitempty"`

	MemoryTotalMiB *int64 `json:"memoryTotalMiB"`
	// ECC is "Enabled" or "Disabled"; empty if the GPU has no ECC.
	ECC string `json:"ecc,omitempty"`
	// ECCPending is the mode after the next reset; empty if not reported.
	ECCPending            string    `json:"eccPending,omitempty"`
	Volatile              ECCErrors `json:"volatileErrors"`
	Aggregate             ECCErrors `json:"aggregateErrors"`
	SRAMThresholdExceeded *bool     `json:"sramThresholdExceeded,omitempty"`
	ChannelRepairPending  *bool     `json:"channelRepairPending,omitempty"`
	TPCRepairPending      *bool     `json:"tpcRepairPending,omitempty"`
	// UnrepairableMemory: the memory has errors that no repair is left for (driver 590 and later).
	UnrepairableMemory *bool `json:"unrepairableMemory,omitempty"`
	// RowRemap is nil when the card tells nothing of remapped rows.
	Remap *RowRemap `json:"remappedRows"`
	// BankRemapPending is that of cards that remap whole banks too (driver 615 and later).
	BankRemapPending *bool `json:"bankRemapPending,omitempty"`
	// PageRetirementPending is that of cards before Ampere, which retire pages instead.
	PageRetirementPending *bool `json:"pageRetirementPending,omitempty"`

	// ClockReasons maps each clock event reason to whether it is active, without the prefix,
	// which differs between drivers: "hw_thermal_slowdown".
	ClockReasons map[string]bool `json:"clockReasons"`
	// ClockCountersUS is the time in microseconds that each reason was active since the driver
	// was loaded: "hw_therm_slowdown".
	ClockCountersUS    map[string]int64 `json:"clockCountersUS,omitempty"`
	SMClockMHz         *int64           `json:"smClockMHz,omitempty"`
	MaxSMClockMHz      *int64           `json:"maxSMClockMHz"`
	AppClockMHz        *int64           `json:"applicationsClockMHz,omitempty"`
	DefaultAppClockMHz *int64           `json:"defaultApplicationsClockMHz,omitempty"`

	PowerDrawW         *float64 `json:"powerDrawW,omitempty"`
	PowerLimitW        *float64 `json:"powerLimitW"`
	DefaultPowerLimitW *float64 `json:"defaultPowerLimitW,omitempty"`
	TemperatureC       *float64 `json:"temperatureC,omitempty"`

	// The maximum PCIe generation of the link in this slot. The current generation drops at
	// idle, so it is not used.
	PCIeMaxGen   *int64 `json:"pcieMaxGen,omitempty"`
	PCIeWidth    *int64 `json:"pcieWidthLanes"`
	PCIeMaxWidth *int64 `json:"pcieMaxWidthLanes,omitempty"`

	// RecoveryAction is the action that the driver requires: "None", "GPU Reset Required",
	// "Drain and Reset Recommended".
	RecoveryAction string `json:"recoveryAction,omitempty"`
	// FabricState and FabricStatus are the registration with the NVLink fabric.
	FabricState  string `json:"fabricState,omitempty"`
	FabricStatus string `json:"fabricStatus,omitempty"`
	// FabricCluster and FabricClique are the NVLink domain and the partition of it: "32766". Boards
	// with NVSwitches of their own have a cluster of zeros.
	FabricCluster string `json:"fabricCluster,omitempty"`
	FabricClique  string `json:"fabricClique,omitempty"`
	// FabricHealth is the health of the fabric by XML element: "summary" to "Healthy",
	// "bandwidth" to "Full", "route_unhealthy" to "False".
	FabricHealth map[string]string `json:"fabricHealth,omitempty"`

	MIG *MIG `json:"mig,omitempty"`

	// License is the state of the licence of a vGPU: "Licensed (Expiry: ...)", "Unlicensed
	// (Restricted)"; empty for a GPU that needs none.
	License string `json:"license,omitempty"`

	// Processes are the processes that compute on the GPU; those of graphics alone are not in it.
	Processes []Process `json:"processes,omitempty"`

	// Errors are figures that the GPU could not give: "ecc_mode: GPU is lost".
	Errors []string `json:"errors,omitempty"`
}

// Process is a process that uses a GPU. Its name is "[Not Found]" where nvidia-smi does not see the process.
type Process struct {
	PID  string `json:"pid"`
	Name string `json:"name"`
}

// ECCErrors are ECC counts.
type ECCErrors struct {
	SRAMUncorrectable *int64 `json:"sramUncorrectable"`
	DRAMUncorrectable *int64 `json:"dramUncorrectable"`
	SRAMCorrectable   *int64 `json:"sramCorrectable,omitempty"`
	DRAMCorrectable   *int64 `json:"dramCorrectable,omitempty"`
}

// RowRemap is the state of row remapping.
type RowRemap struct {
	CorrectableRows   *int64 `json:"correctableRows"`
	UncorrectableRows *int64 `json:"uncorrectableRows"`
	Pending           *bool  `json:"pending"`
	Failure           *bool  `json:"failure"`
}
