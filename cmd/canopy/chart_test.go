package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"canopy/internal/config"
	"canopy/internal/web"
	"canopy/jobs"
)

// helmVariable names the program that renders the chart; scripts/chart.sh sets it.
const helmVariable = "CANOPY_TEST_HELM"

// helm runs it on the chart and gives what it says.
func helm(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	program := os.Getenv(helmVariable)
	if program == "" {
		t.Skip(helmVariable + " is not set: make chart renders it")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// render gives what the chart makes of a file of its folder ci, and of what is set beside.
func render(t *testing.T, file string, set ...string) (string, error) {
	t.Helper()
	args := []string{"template", "release", "../../deploy/helm", "--kube-version", "1.30.0", "-f", "../../deploy/helm/ci/" + file}
	for _, one := range set {
		args = append(args, "--set-string", one)
	}
	return helm(t, args...)
}

// manifest is what the tests look at of what Kubernetes is told.
type manifest struct {
	Kind     string
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Data, StringData map[string]string
	Spec             struct {
		MinReplicas    int
		ScaleTargetRef struct{ Name string }
		Selector       map[string]any
		Ports          []struct{ Name, TargetPort string }
		Template       struct {
			Metadata struct{ Labels map[string]string }
			Spec     podSpec
		}
	}
}

type podSpec struct {
	TerminationGracePeriodSeconds int
	ServiceAccountName            string
	SecurityContext               struct{ RunAsNonRoot bool }
	Volumes                       []struct {
		Name      string
		ConfigMap struct{ Name string }
	}
	Containers []struct {
		Args            []string
		SecurityContext struct{ ReadOnlyRootFilesystem bool }
		Resources       struct{ Requests, Limits map[string]string }
		EnvFrom         []struct{ ConfigMapRef, SecretRef struct{ Name string } }
		Env             []struct {
			Name, Value string
			ValueFrom   struct {
				SecretKeyRef struct{ Name, Key string }
			}
		}
		VolumeMounts []struct{ Name, MountPath string }
		Ports        []struct {
			Name          string
			ContainerPort int
		}
		StartupProbe, LivenessProbe, ReadinessProbe probe
	}
}

type probe struct {
	HTTPGet                         struct{ Path, Port string }
	TimeoutSeconds                  int
	PeriodSeconds, FailureThreshold int
}

// rendered are the manifests by kind and name.
type rendered struct {
	*testing.T
	by map[string]manifest
}

func chart(t *testing.T, file string, set ...string) rendered {
	t.Helper()
	text, err := render(t, file, set...)
	if err != nil {
		t.Fatal(text)
	}
	r := rendered{t, map[string]manifest{}}
	for part := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(part))
		var m manifest
		if err == nil {
			err = json.Unmarshal(raw, &m)
		}
		if err != nil {
			t.Fatalf("%v in %s", err, part)
		}
		r.by[m.Kind+" "+m.Metadata.Name] = m
	}
	if n := strings.Count(text, "\nkind: "); n != len(r.by) {
		t.Fatalf("%d of %d manifests were read", len(r.by), n)
	}
	return r
}

func (r rendered) get(kind, name string) manifest {
	r.Helper()
	m, ok := r.by[kind+" "+name]
	if !ok {
		r.Fatalf("there is no %s %s", kind, name)
	}
	return m
}

// environment is what a pod's container finds set; secret stands for a Secret that the chart does not make.
func (r rendered) environment(p podSpec, secret map[string]string) map[string]string {
	r.Helper()
	env := map[string]string{}
	add := func(set map[string]string) {
		for name, value := range set {
			env[name] = value
		}
	}
	for _, from := range p.Containers[0].EnvFrom {
		if name := from.ConfigMapRef.Name; name != "" {
			add(r.get("ConfigMap", name).Data)
		}
		if name := from.SecretRef.Name; name != "" && secret != nil {
			add(secret)
		} else if name != "" {
			add(r.get("Secret", name).StringData)
		}
	}
	for _, e := range p.Containers[0].Env {
		env[e.Name] = e.Value
		if from := e.ValueFrom.SecretKeyRef; from.Name != "" {
			env[e.Name] = r.get("Secret", from.Name).StringData[from.Key]
		}
	}
	return env
}

// settled reads a pod's settings as the program does, all but the file that is mounted.
func (r rendered) settled(mode config.Mode, p podSpec, secret map[string]string) *config.Config {
	r.Helper()
	env := r.environment(p, secret)
	if file := env["CANOPY_WEBHOOK_CA"]; file != "" {
		r.mounted(p, file)
		delete(env, "CANOPY_WEBHOOK_CA")
	}
	cfg, err := config.Load(mode, func(name string) string { return env[name] })
	if err != nil {
		r.Fatal(err)
	}
	return cfg
}

// mounted tells whether a file of a ConfigMap is where a setting says.
func (r rendered) mounted(p podSpec, file string) {
	r.Helper()
	for _, m := range p.Containers[0].VolumeMounts {
		for _, v := range p.Volumes {
			if m.Name == v.Name && m.MountPath == filepath.Dir(file) && r.get("ConfigMap", v.ConfigMap.Name).Data[filepath.Base(file)] != "" {
				return
			}
		}
	}
	r.Errorf("nothing is mounted at %s", file)
}

// process looks at what serve and worker have in common: what is called, asked for, and how it ends.
func (r rendered) process(name string, port int, least time.Duration) {
	r.Helper()
	d := r.get("Deployment", "release-canopy-"+name)
	p := d.Spec.Template.Spec
	c := p.Containers[0]
	understands(r.T, "the chart", c.Args)
	if len(c.Ports) != 1 || c.Ports[0].ContainerPort != port {
		r.Errorf("%s: ports are %v, it listens on %d", name, c.Ports, port)
	}
	for i, probe := range []probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if want := []string{"/healthz", "/healthz", "/readyz"}[i]; probe.HTTPGet.Path != want || probe.HTTPGet.Port != c.Ports[0].Name {
			r.Errorf("%s: a probe is %+v", name, probe)
		}
	}
	if grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second; grace < least+5*time.Second || grace > least+30*time.Second {
		r.Errorf("%s has %s to end, and takes up to %s", name, grace, least)
	}
	if !p.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem || c.Resources.Requests["cpu"] == "" || c.Resources.Limits["memory"] == "" {
		r.Errorf("%s: %+v", name, p)
	}
	if service := r.get("Service", d.Metadata.Name); service.Spec.Ports[0].TargetPort != c.Ports[0].Name || !selects(service.Spec.Selector, d.Spec.Template.Metadata.Labels) {
		r.Errorf("%s: the service leads to %v, %v", name, service.Spec.Ports, service.Spec.Selector)
	}
}

func selects(selector map[string]any, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != fmt.Sprint(value) {
			return false
		}
	}
	return len(selector) > 0
}

// TestChartRenders makes each example of the chart, and reads it as Kubernetes and the program would.
func TestChartRenders(t *testing.T) {
	kept := map[string]string{"DATABASE_URL": "postgres://host/name", "REDIS_URL": "redis://host", "CANOPY_SECRET_KEY": strings.Repeat("A", 43) + "="}
	for _, c := range []struct {
		file          string
		secret        map[string]string
		budgets, jobs int
		scaled        []string
	}{
		{"small.yaml", nil, 2, 1, nil},
		{"large.yaml", nil, 2, 1, []string{"serve", "worker"}},
		{"kept.yaml", kept, 0, 0, []string{"worker"}},
		{"cell.yaml", nil, 2, 1, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			if said, err := helm(t, "lint", "--strict", "../../deploy/helm", "--kube-version", "1.30.0", "-f", "../../deploy/helm/ci/"+c.file); err != nil {
				t.Error(said)
			}
			r := chart(t, c.file)
			serve := r.settled(config.Server, r.get("Deployment", "release-canopy-serve").Spec.Template.Spec, c.secret)
			r.settled(config.Worker, r.get("Deployment", "release-canopy-worker").Spec.Template.Spec, c.secret)
			_, port, _ := net.SplitHostPort(serve.Listen)
			number, _ := strconv.Atoi(port)
			r.process("serve", number, serve.Drain+web.DefaultFinish+time.Second)
			r.process("worker", 9090, jobs.DrainTime)
			counted := map[string]int{}
			for _, m := range r.by {
				counted[m.Kind]++
			}
			if counted["PodDisruptionBudget"] != c.budgets || counted["Job"] != c.jobs || counted["HorizontalPodAutoscaler"] != len(c.scaled) {
				t.Errorf("there are %v", counted)
			}
			for _, name := range c.scaled {
				target := r.get("HorizontalPodAutoscaler", "release-canopy-"+name).Spec.ScaleTargetRef.Name
				r.get("Deployment", target)
			}
		})
	}
}

// TestChartEndsPodsByWhatHolds: a Secret that the chart does not see changes neither how long serve drains nor where it listens.
func TestChartEndsPodsByWhatHolds(t *testing.T) {
	secret := map[string]string{
		"DATABASE_URL": "postgres://host/name", "REDIS_URL": "redis://host", "CANOPY_SECRET_KEY": strings.Repeat("A", 43) + "=",
		"CANOPY_DRAIN": "2m", "CANOPY_LISTEN": ":9999",
	}
	for _, c := range []struct {
		set   []string
		drain time.Duration
		port  int
	}{
		{nil, 5 * time.Second, 8080},
		{[]string{"settings.CANOPY_DRAIN=7s", "serve.settings.CANOPY_LISTEN=:1234"}, 7 * time.Second, 1234},
	} {
		r := chart(t, "kept.yaml", c.set...)
		serve := r.settled(config.Server, r.get("Deployment", "release-canopy-serve").Spec.Template.Spec, secret)
		if _, port, _ := net.SplitHostPort(serve.Listen); serve.Drain != c.drain || port != strconv.Itoa(c.port) {
			t.Errorf("%v: it drains for %s and listens on %s", c.set, serve.Drain, serve.Listen)
		}
		r.process("serve", c.port, serve.Drain+web.DefaultFinish+time.Second)
	}
}

// TestChartWantsAVolumeForAFolder: originals in a folder of a pod go with the pod, and no other finds them.
func TestChartWantsAVolumeForAFolder(t *testing.T) {
	for _, in := range []string{"settings", "secrets", "serve.settings", "worker.settings"} {
		folder := in + ".CANOPY_BLOB_URL=file:///srv/originals"
		if said, err := render(t, "small.yaml", folder); err == nil || !strings.Contains(said, "CANOPY_BLOB_URL is a folder") {
			t.Errorf("%s: %v", in, err)
		}
		if said, err := render(t, "small.yaml", folder, "volumeMounts[0].name=originals", "volumeMounts[0].mountPath=/srv/originals",
			"volumes[0].name=originals", "volumes[0].persistentVolumeClaim.claimName=originals"); err != nil {
			t.Errorf("%s, with a volume: %s", in, said)
		}
	}
}

// TestChartMigratesPastThePooler: the Job has the database before anything else of the release is there.
func TestChartMigratesPastThePooler(t *testing.T) {
	for file, host := range map[string]string{"small.yaml": "postgres", "large.yaml": "postgres"} {
		r := chart(t, file)
		job := r.get("Job", "release-canopy-migrate")
		cfg := r.settled(config.Schema, job.Spec.Template.Spec, nil)
		if !strings.Contains(cfg.DatabaseURL, "@"+host+":5432/") {
			t.Errorf("%s: it migrates %s", file, cfg.DatabaseURL)
		}
		understands(t, "the chart", job.Spec.Template.Spec.Containers[0].Args)
		hook, weight := job.Metadata.Annotations["helm.sh/hook"], job.Metadata.Annotations["helm.sh/hook-weight"]
		secret := r.get("Secret", "release-canopy-migrate").Metadata.Annotations
		if hook != "pre-install,pre-upgrade" || secret["helm.sh/hook"] != hook || secret["helm.sh/hook-weight"] >= weight || job.Spec.Template.Spec.ServiceAccountName != "" {
			t.Errorf("%s: %v, %v", file, job.Metadata.Annotations, secret)
		}
	}
}

// TestChartJoinsACell: the Job makes the database the region's, and the processes are told whose cell they are, and where the home is.
func TestChartJoinsACell(t *testing.T) {
	r := chart(t, "cell.yaml")
	job := r.get("Job", "release-canopy-migrate").Spec.Template.Spec
	understands(t, "the chart", job.Containers[0].Args)
	serve := r.settled(config.Server, r.get("Deployment", "release-canopy-serve").Spec.Template.Spec, nil)
	if args := job.Containers[0].Args; !slices.Equal(args, []string{"region", "join", serve.Region}) {
		t.Errorf("the Job runs %v", args)
	}
	if home := r.settled(config.Schema, job, nil).HomeURL; home == "" || home != serve.HomeURL || len(serve.CellKeys) == 0 {
		t.Errorf("the Job joins the home at %s, serve follows %s", home, serve.HomeURL)
	}
	if said, err := render(t, "cell.yaml", "secrets.CANOPY_HOME_URL="); err == nil || !strings.Contains(said, "please set secrets.CANOPY_HOME_URL") {
		t.Errorf("without the home: %s", said)
	}
}

// TestChartScalesByWhatIsMeasured: the metric of the queues is one that the papers tell of, and can be left out.
func TestChartScalesByWhatIsMeasured(t *testing.T) {
	text, err := render(t, "large.yaml")
	if err != nil {
		t.Fatal(text)
	}
	papers, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if metric := "canopy_outbox_lag_seconds"; !strings.Contains(text, "name: "+metric+"\n") || !strings.Contains(string(papers), "`"+metric+"{outbox}`") {
		t.Error("the workers' autoscaler does not look at", metric)
	}
	if text, err = render(t, "kept.yaml"); err != nil || strings.Contains(text, "External") {
		t.Error(text)
	}
}

// TestChartPassesSettings: each setting arrives, from where it is taken.
func TestChartPassesSettings(t *testing.T) {
	var set []string
	refused := func(in, name string) bool {
		said, err := render(t, "small.yaml", in+"."+name+"=value")
		return err != nil && strings.Contains(said, name)
	}
	for _, v := range config.Variables() {
		switch v.Name {
		case "CANOPY_DRAIN":
			set = append(set, "settings.CANOPY_DRAIN=7s")
		case "CANOPY_LISTEN":
			set = append(set, "settings.CANOPY_LISTEN=:1234")
		default:
			in := "settings" // unless it is for the Secret alone
			if slices.Contains([]string{"DATABASE_URL", "REDIS_URL", "CANOPY_MONITOR_PASSWORD"}, v.Name) && !refused(in, v.Name) {
				t.Errorf("%s is shown to everybody", v.Name)
			}
			if _, err := render(t, "small.yaml", "settings."+v.Name+"=x"); err != nil {
				in = "secrets"
			}
			set = append(set, in+"."+v.Name+"=value of "+v.Name)
		}
	}
	r := chart(t, "small.yaml", set...)
	for _, name := range []string{"serve", "worker"} {
		env := r.environment(r.get("Deployment", "release-canopy-"+name).Spec.Template.Spec, nil)
		for _, one := range set {
			_, one, _ = strings.Cut(one, ".")
			name, value, _ := strings.Cut(one, "=")
			if env[name] != value {
				t.Errorf("%s is %q, not %q", name, env[name], value)
			}
		}
	}
	if !refused("settings", "CANOPY_DATABASE") || !refused("serve", "replica") {
		t.Error("what there is not is taken")
	}
	for missing, file := range map[string]string{"secrets.REDIS_URL": "small.yaml", "settings.CANOPY_PUBLIC_URL": "kept.yaml"} {
		if said, err := render(t, file, missing+"="); err == nil || !strings.Contains(said, "please set "+missing) {
			t.Errorf("without %s: %s", missing, said)
		}
	}
}
