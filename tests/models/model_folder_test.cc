// Models of a Hugging Face cache, laid out as its documentation says: models--org--name/{blobs,
// refs/REVISION, snapshots/COMMIT}, where a snapshot's files are links to ../../blobs.
#include "server/models/model_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/models/registry.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kCommit[] = "7e27bd9f95328f0f3b08261d1252705110c806f8";
constexpr char kOther[] = "0123456789abcdef0123456789abcdef01234567";

class ModelFolderTest : public testing::Test {
 protected:
  ModelFolderTest() {
    std::string pattern = testing::TempDir() + "model_folderXXXXXX";
    top_ = fs::canonical(mkdtemp(pattern.data()));
    fs::create_directories(root());
    AddSnapshot(kCommit);
    Write(cache() / "refs" / "main", kCommit);
  }
  ~ModelFolderTest() override { fs::remove_all(top_); }

  // The folder of `id`; empty with an error.
  fs::path Found(const std::string& id) const {
    return FindModelFolder(root(), id).value_or(fs::path());
  }

  // What the registry lists.
  std::vector<std::string> Listed() const {
    const Registry registry(root(), {});
    std::vector<std::string> ids;
    for (const ModelEntry& entry : registry.List()) ids.push_back(entry.id);
    return ids;
  }

  fs::path root() const { return top_ / "models"; }
  fs::path cache() const { return top_ / "hub" / "models--Planted--Table"; }
  fs::path Snapshot(const std::string& commit) const { return cache() / "snapshots" / commit; }

  static void Write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  // A snapshot of a real checkpoint, each file a blob of its own.
  void AddSnapshot(const std::string& commit) const {
    const fs::path checkpoint = fs::path(SINKD_ORACLE_DIR) / "planted" / "planted-table";
    fs::create_directories(cache() / "blobs");
    fs::create_directories(Snapshot(commit));
    for (const auto& file : fs::directory_iterator(checkpoint)) {
      const std::string name = file.path().filename().string();
      const std::string blob = std::to_string(std::hash<std::string>()(name));
      fs::copy_file(file, cache() / "blobs" / blob, fs::copy_options::skip_existing);
      fs::create_symlink(fs::path("../../blobs") / blob, Snapshot(commit) / name);
    }
  }

  // Loads `id`, with its tokenizer.
  absl::Status Load(const std::string& id) const {
    Registry registry(root(), {});
    const absl::StatusOr<ModelEntry> entry = registry.Load(id, {}, {}, {});
    if (!entry.ok()) return entry.status();
    EXPECT_EQ(entry->spec->architecture, "qwen2");
    EXPECT_TRUE(entry->has_chat_template);
    return absl::OkStatus();
  }

  fs::path top_;
};

TEST_F(ModelFolderTest, ALinkedSnapshotLoadsWithBlobsOutsideTheRoot) {
  fs::create_directory_symlink(Snapshot(kCommit), root() / "planted");
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ALinkedModelOfTheCacheStandsForTheSnapshotOfMain) {
  AddSnapshot(kOther);
  fs::create_directory_symlink(cache(), root() / "planted");
  EXPECT_EQ(Found("planted"), Snapshot(kCommit));
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ACopiedModelOfTheCacheLoads) {
  fs::copy(cache(), root() / "planted",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove_all(cache());
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ACopiedSnapshotLoads) {
  fs::copy(Snapshot(kCommit), root() / "planted", fs::copy_options::recursive);
  fs::remove_all(cache());
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, TheOnlySnapshotNeedsNoReference) {
  fs::create_directory_symlink(cache(), root() / "planted");
  fs::remove_all(cache() / "refs");
  EXPECT_EQ(Found("planted"), Snapshot(kCommit));
  EXPECT_THAT(Listed(), ElementsAre("planted"));
  AddSnapshot(kOther);
  EXPECT_EQ(Found("planted"), cache());
  EXPECT_THAT(Listed(),
              ElementsAre("planted@" + std::string(kOther), "planted@" + std::string(kCommit)));
}

TEST_F(ModelFolderTest, AReferenceIsFollowedToAFolderOfSnapshotsAlone) {
  fs::create_directory_symlink(cache(), root() / "planted");
  Write(cache() / "refs" / "main", std::string(kCommit) + "\n");
  EXPECT_EQ(Found("planted"), Snapshot(kCommit));
  AddSnapshot(kOther);  // so that no snapshot is the only one
  for (const std::string reference : {"../blobs", "..", "/etc", "gone", ""}) {
    Write(cache() / "refs" / "main", reference);
    Write(cache() / "refs" / "branch", reference);
    EXPECT_EQ(Found("planted"), cache()) << reference;
    EXPECT_EQ(Found("planted@branch"), fs::path()) << reference;
  }
}

TEST_F(ModelFolderTest, ACacheUnderTheRootIsListedAndLoadedByRevision) {
  const fs::path hub = cache().parent_path();
  AddSnapshot(kOther);
  AddSnapshot("00000000000000000000000000000000deadbeef");
  Write(cache() / "refs" / "step1000-tokens4B", kOther);
  Write(cache() / "refs" / "v1.0", kCommit);
  Write(cache() / "refs" / "gone", "ffffffffffffffffffffffffffffffffffffffff");
  Write(cache() / "refs" / "refs" / "pr" / "1", kOther);  // no id: a revision holds no '/'
  Write(hub / "models--Empty--Cache" / "refs" / "main", kOther);
  const Registry registry(hub, {});
  std::vector<std::string> ids;
  for (const ModelEntry& entry : registry.List()) ids.push_back(entry.id);
  EXPECT_THAT(
      ids, ElementsAre("planted--table", "planted--table@00000000000000000000000000000000deadbeef",
                       "planted--table@step1000-tokens4B", "planted--table@v1.0"));
  const auto found = [&hub](const std::string& id) {
    return FindModelFolder(hub, id).value_or(fs::path());
  };
  EXPECT_EQ(found("planted--table"), Snapshot(kCommit));
  EXPECT_EQ(found("planted--table@main"), Snapshot(kCommit));
  EXPECT_EQ(found("planted--table@v1.0"), Snapshot(kCommit));
  EXPECT_EQ(found("planted--table@step1000-tokens4B"), Snapshot(kOther));
  EXPECT_EQ(found(std::string("planted--table@") + kOther), Snapshot(kOther));
  for (const char* none : {"planted--table@gone", "planted--table@step1000-tokens4b",
                           "planted--table@0123456", "planted--tables@main", "planted@main"}) {
    EXPECT_EQ(found(none), fs::path()) << none;
  }
  Registry loading(hub, {});
  const auto loaded = loading.Load("planted--table@step1000-tokens4B", {}, {}, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->spec->architecture, "qwen2");
  EXPECT_EQ(GetErrorDetail(loading.Get("planted--table@v1.1").status())->fix,
            "did you mean planted--table@v1.0? ListModels returns all ids");
}

TEST_F(ModelFolderTest, NoRevisionLeavesItsFolder) {
  fs::create_directory_symlink(cache(), root() / "planted");
  Write(cache().parent_path() / "outside", kCommit);
  Registry registry(root(), {});
  for (const char* id :
       {"planted@../outside", "planted@..", "planted@.", "planted@", "planted@a/b", "planted@/etc",
        "planted@a@b", "@main", "../planted@main", "a/b@main", "planted@refs%2fmain"}) {
    EXPECT_FALSE(IsModelId(id)) << id;
    const absl::Status status = registry.Load(id, {}, {}, {}).status();
    EXPECT_EQ(GetErrorDetail(status)->reason, "MODEL_ID_INVALID") << id;
    EXPECT_EQ(GetErrorDetail(status)->value, id);
  }
  EXPECT_FALSE(IsModelId("planted@main\n"));
  Write(root() / "plain" / "config.json", "{}");
  EXPECT_EQ(Found("plain@main"), fs::path()) << "only a cache has revisions";
}

TEST_F(ModelFolderTest, ALinkOutOfTheRepositoryIsRefusedByName) {
  fs::create_directory_symlink(cache(), root() / "planted");
  Write(top_ / "secret.json", "{}");
  const fs::path link = Snapshot(kCommit) / "generation_config.json";
  fs::remove(link);
  const auto refused = [this](const std::string& subject) {
    Registry registry(root(), {});
    for (const absl::Status& status : {registry.Load("planted", {}, {}, {}).status(),
                                       registry.Plan("planted", {}, 8).status()}) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_EQ(GetErrorDetail(status)->reason, "LINK_OUTSIDE");
      EXPECT_EQ(GetErrorDetail(status)->subject, subject);
    }
    const std::vector<ModelEntry> listed = registry.List();
    EXPECT_EQ(listed.size(), 1u);
    EXPECT_THAT(listed[0].failure, HasSubstr("leaves the blobs"));
  };
  const fs::path neighbour = cache().parent_path() / "models--Other--Model" / "blobs" / "b";
  Write(neighbour, "{}");
  for (const fs::path& target : {top_ / "secret.json", neighbour, fs::path("../../refs/main"),
                                 fs::path("../../blobs/../../../secret.json"), fs::path("/proc")}) {
    if (!fs::exists(target.is_absolute() ? target : Snapshot(kCommit) / target)) continue;
    fs::create_symlink(target, link);
    refused("generation_config.json");
    fs::remove(link);
  }
  // A blob that is a link itself, and a snapshot that is one.
  fs::create_symlink(top_ / "secret.json", cache() / "blobs" / "linked");
  fs::create_symlink("../../blobs/linked", link);
  refused("generation_config.json");
  fs::remove(link);
  EXPECT_EQ(Load("planted"), absl::OkStatus());
  fs::rename(Snapshot(kCommit), top_ / "elsewhere");
  fs::create_directory_symlink(top_ / "elsewhere", Snapshot(kCommit));
  refused(std::string("snapshots/") + kCommit);
}

TEST_F(ModelFolderTest, AMissingBlobIsNamedByTheFileThatLinksToIt) {
  fs::create_directory_symlink(cache(), root() / "planted");
  const fs::path link = Snapshot(kCommit) / "model.safetensors";
  const std::string blob = fs::read_symlink(link).string();
  fs::remove(fs::canonical(link));
  const absl::Status status = Load("planted");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("model.safetensors is a link to " + blob + ", which is missing"));
}

TEST_F(ModelFolderTest, ASnapshotThatIsMissingSaysSo) {
  fs::create_directory_symlink(cache(), root() / "planted");
  fs::remove_all(Snapshot(kCommit));
  const absl::Status status = Load("planted");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("refs/main names no snapshot"));
}

TEST_F(ModelFolderTest, APlainFolderIsItself) {
  Write(root() / "plain" / "config.json", "{}");
  Write(root() / "file", "{}");
  EXPECT_EQ(Found("plain"), root() / "plain");
  EXPECT_EQ(Found("nothing"), fs::path());
  EXPECT_EQ(Found("file"), fs::path());
}

}  // namespace
}  // namespace sinkd
