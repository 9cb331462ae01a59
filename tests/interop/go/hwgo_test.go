package interop

import (
	"strings"
	"testing"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/auth/basic"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/auth/signer"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/config"
	hwregion "github.com/huaweicloud/huaweicloud-sdk-go-v3/core/region"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/request"
	ecs "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/ecs/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/ecs/v2/model"
)

// newECS builds a client; without a project id it looks the project up by name.
func newECS(t *testing.T, s *simulator, project string, http *config.HttpConfig) *ecs.EcsClient {
	t.Helper()
	builder := basic.NewCredentialsBuilder().WithAk(accessKey).WithSk(secretKey)
	if project != "" {
		builder = builder.WithProjectId(project)
	} else {
		builder = builder.WithIamEndpointOverride(s.urls["iam"])
	}
	credentials, err := builder.SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	if http == nil {
		http = config.DefaultHttpConfig()
	}
	client := ecs.EcsClientBuilder().WithCredential(credentials).WithHttpConfig(http)
	if project != "" {
		client = client.WithEndpoints([]string{s.urls["ecs"]})
	} else {
		client = client.WithRegion(hwregion.NewRegion("eu-de", s.urls["ecs"]))
	}
	built, err := client.SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	return ecs.NewEcsClient(built)
}

func TestInterop_03_vector_22(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Number != 22 {
			continue
		}
		type attachment struct {
			VolumeID string `json:"volumeId"`
		}
		body := struct {
			VolumeAttachment attachment `json:"volumeAttachment"`
		}{attachment{"a26887c6-c47b-4654-abb5-dfadf7d3f803"}}
		build := request.NewHttpRequestBuilder().WithEndpoint("https://"+v.Host).
			WithPath(v.Target).WithMethod(v.Method).WithBody("body", body).
			AddHeaderParam("X-Sdk-Date", v.Date)
		for _, header := range v.SignedHeaders {
			build = build.AddHeaderParam(header[0], header[1])
		}
		headers, err := signer.Sign(build.Build(), v.AK, v.SK)
		if err != nil {
			t.Fatal(err)
		}
		if headers["Authorization"] != v.Authorization {
			t.Errorf("vector 22:\nours   %s\ntheirs %s", v.Authorization, headers["Authorization"])
		}
		return
	}
	t.Fatal("vector 22 is missing")
}

// The look-up of the project signs X-Sdk-Date alone, the call itself leaves Host
// and Content-Type unsigned; the verifier must take both.
func lookUpAndList(t *testing.T, s *simulator) error {
	t.Helper()
	_, err := newECS(t, s, projectID, nil).ListServersDetails(&model.ListServersDetailsRequest{})
	return err
}

func TestInterop_03_shortest_header_sets(t *testing.T) {
	s := start(t)
	s.addServer("node-1")
	if _, err := newECS(t, s, "", nil).ListServersDetails(&model.ListServersDetailsRequest{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, call := range s.calls() {
		seen[call.Operation] = call.Headers["Authorization"]
	}
	if got := seen["iam.projects.list"]; !strings.HasSuffix(got, "SignedHeaders=x-sdk-date") {
		t.Errorf("project look-up: %q", got)
	}
	if got := seen["ecs.servers.list"]; got == "" || strings.Contains(got, "host") {
		t.Errorf("server list: %q", got)
	}
}

func TestInterop_03_defect_strict_host(t *testing.T) {
	s := start(t, "--defect", "strict-host")
	if lookUpAndList(t, s) == nil {
		t.Error("the client did not notice")
	}
}

func showServer(t *testing.T, s *simulator) error {
	t.Helper()
	id := s.addServer("node-1")
	client := newECS(t, s, projectID, nil)
	shown, err := client.ShowServer(&model.ShowServerRequest{ServerId: id})
	if err != nil {
		return err
	}
	if shown.Server.Flavor.Vcpus != "2" {
		t.Errorf("vcpus: %q", shown.Server.Flavor.Vcpus)
	}
	if _, err := client.ListServerInterfaces(&model.ListServerInterfacesRequest{ServerId: id}); err != nil {
		return err
	}
	if _, err := client.ListServerBlockDevices(&model.ListServerBlockDevicesRequest{ServerId: id}); err != nil {
		return err
	}
	if _, err := client.ListFlavors(&model.ListFlavorsRequest{}); err != nil {
		return err
	}
	listed, err := client.NovaListServersDetails(&model.NovaListServersDetailsRequest{})
	if err == nil && len(*listed.Servers) != 1 {
		t.Errorf("nova list: %+v", listed)
	}
	return err
}

// Part of 27: the types of what exists so far.
func TestInterop_27_server_types(t *testing.T) {
	if err := showServer(t, start(t)); err != nil {
		t.Fatal(err)
	}
}

func TestInterop_27_defect_flavor_numbers(t *testing.T) {
	if showServer(t, start(t, "--defect", "flavor-numbers")) == nil {
		t.Error("the client did not notice")
	}
}

func TestInterop_37_hwgo_tls(t *testing.T) {
	directory := t.TempDir()
	s := start(t, "--tls-dir", directory)
	trusting := config.DefaultHttpConfig().WithHttpTransport(authority(t, directory))
	if _, err := newECS(t, s, projectID, trusting).ListServersDetails(&model.ListServersDetailsRequest{}); err != nil {
		t.Fatal(err)
	}
	err := lookUpAndList(t, s)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("not a handshake error: %v", err)
	}
}
