package nvidia

// SMILog is one document of nvidia-smi -q -x.
type SMILog struct {
	// DTD is the document type: "nvsmi_device_v13.dtd".
	DTD    string `json:"dtd,omitempty"`
	Driver string `json:"driver"`
	CUDA   string `json:"cuda,omitempty"`
	// Attached is how many GPUs the driver says there are.
	Attached int   `json:"attached"`
	GPUs     []GPU `json:"gpus"`
}

// GPU is one card.
type GPU struct {
	// Index is its place in the document: NVML's number.
	Index   int    `json:"index"`
	BusID   string `json:"busID"` // "0000:1b:00.0"
	UUID    string `json:"uuid"`
	Serial  string `json:"serial,omitempty"`
	Product string `json:"product"`
	VBIOS   string `json:"vbios,omitempty"`

	MemoryTotalMiB *int64 `json:"memoryTotalMiB"`
	// ECC is "Enabled" or "Disabled"; empty when the card has none.
	ECC                   string    `json:"ecc,omitempty"`
	Volatile              ECCErrors `json:"volatileErrors"`
	Aggregate             ECCErrors `json:"aggregateErrors"`
	SRAMThresholdExceeded *bool     `json:"sramThresholdExceeded,omitempty"`
	ChannelRepairPending  *bool     `json:"channelRepairPending,omitempty"`
	TPCRepairPending      *bool     `json:"tpcRepairPending,omitempty"`
	// RowRemap is nil when the card tells nothing of remapped rows.
	Remap *RowRemap `json:"remappedRows"`

	// ClockReasons are what holds the clocks down, without the prefix that
	// drivers changed: "hw_thermal_slowdown" to whether it is active.
	ClockReasons map[string]bool `json:"clockReasons"`
	// ClockCounters are how long each reason has been active since the driver
	// was loaded: "hw_therm_slowdown" to microseconds.
	ClockCountersUS    map[string]int64 `json:"clockCountersUS,omitempty"`
	SMClockMHz         *int64           `json:"smClockMHz,omitempty"`
	MaxSMClockMHz      *int64           `json:"maxSMClockMHz"`
	AppClockMHz        *int64           `json:"applicationsClockMHz,omitempty"`
	DefaultAppClockMHz *int64           `json:"defaultApplicationsClockMHz,omitempty"`

	PowerDrawW         *float64 `json:"powerDrawW,omitempty"`
	PowerLimitW        *float64 `json:"powerLimitW"`
	DefaultPowerLimitW *float64 `json:"defaultPowerLimitW,omitempty"`
	TemperatureC       *float64 `json:"temperatureC,omitempty"`

	// PCIeGen and PCIeWidth are what the link can do here; the current
	// generation falls at idle and says nothing.
	PCIeMaxGen   *int64 `json:"pcieMaxGen,omitempty"`
	PCIeWidth    *int64 `json:"pcieWidthLanes"`
	PCIeMaxWidth *int64 `json:"pcieMaxWidthLanes,omitempty"`

	// RecoveryAction is what the driver wants done: "None", "GPU Reset Required".
	RecoveryAction string `json:"recoveryAction,omitempty"`
	// FabricState and FabricStatus are the NVLink fabric's registration.
	FabricState  string `json:"fabricState,omitempty"`
	FabricStatus string `json:"fabricStatus,omitempty"`
	// FabricHealth is what the driver says of the fabric's health, by element:
	// "summary" to "Healthy", "bandwidth" to "Full", "route_unhealthy" to "False".
	FabricHealth map[string]string `json:"fabricHealth,omitempty"`

	// ECCErrors are figures that the GPU could not give: "ecc_mode: GPU is lost".
	Errors []string `json:"errors,omitempty"`
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
