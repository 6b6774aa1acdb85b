package check

// Kept is a recorder that also keeps what it recorded, for a check whose next observation depends on
// the observations before.
type Kept struct {
	Recorder
	Observations []Observation
}

// Record implements Recorder.
func (k *Kept) Record(o Observation) (Observation, error) {
	o, err := k.Recorder.Record(o)
	k.Observations = append(k.Observations, o)
	return o, err
}
