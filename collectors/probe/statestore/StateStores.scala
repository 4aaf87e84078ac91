package io.curtail.probe

import java.lang.reflect.Field

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.rocksdb.{Cache, Options, RocksDB}

/** One state store of one run of a query. */
private[probe] final case class StoreId(
    runId: String, operator: Long, partition: Int, name: String) {
  override def toString: String =
    s"operator $operator, partition $partition" + (if (name == "default") "" else s", $name")

  /** As in the names of Spark's loggers, which the collector knows stores by. */
  def logged: String =
    s"StateStoreProviderId[ storeId=StateStoreId[ operatorId=$operator, partitionId=$partition, " +
      s"storeName=$name ], queryRunId=$runId ]"
}

/** The result of trying to use a database. */
private[probe] sealed trait Look[+T]
private[probe] final case class Seen[T](value: T) extends Look[T]
/** A task uses it: try again soon. */
private[probe] case object InUse extends Look[Nothing]
private[probe] case object NotOpen extends Look[Nothing]

/**
 * The state stores that Spark has loaded in this JVM, by reflection, as Spark offers no API for
 * them. A Spark version with other internals gives an exception, and the lever refuses its orders
 * with it.
 */
private[probe] object StateStores {
  private lazy val loadedProviders = {
    val field = StateStore.getClass.getDeclaredField("loadedProviders")
    field.setAccessible(true)
    field.get(StateStore).asInstanceOf[mutable.HashMap[StateStoreProviderId, StateStoreProvider]]
  }

  /** Holds Spark's lock only while copying the list. */
  def loaded(): Seq[LoadedStore] =
    loadedProviders.synchronized(loadedProviders.toSeq).map { case (id, provider) =>
      val store = id.storeId
      new LoadedStore(
        StoreId(id.queryRunId.toString, store.operatorId, store.partitionId, store.storeName),
        provider)
    }
}

/** One loaded state store; two with the same `provider` are the same. */
private[probe] class LoadedStore(val id: StoreId, val provider: StateStoreProvider) {
  import LoadedStore._

  def isRocksDb: Boolean = ProviderClass.isInstance(provider)

  /** Spark's wrapper of the database; null until the store's first task came. */
  def wrapper: AnyRef = Wrapper.get(provider)

  /** The open database, only for comparing identity: it may be closed at any time. */
  def database: AnyRef = Option(wrapper).map(Database.get).orNull

  /** The block cache of its database, only for comparing identity. Call it inside `whileIdle`. */
  def cache: AnyRef = BlockCache.get(Wrapper.get(provider))

  /** The version of the last commit, equal in all stores of a query between two batches. Call it
   *  inside `whileIdle`. */
  def version: Long = Version.getLong(Wrapper.get(provider))

  /**
   * Runs `body` with the open database and the options with which Spark opens it the next time.
   * Spark closes, opens and uses a database only between taking its state machine from *released*
   * and giving it back, under a lock: with that lock held and the state *released* nobody else can
   * have it. A task that wants to begin waits for `body`, so that has to be short.
   */
  def whileIdle[T](body: (RocksDB, Options) => T): Look[T] = {
    val machine = Machine.get(provider)
    if (machine == null) NotOpen
    else Lock.get(machine).synchronized {
      State.get(machine).toString match {
        case "RELEASED" =>
          val wrapper = Wrapper.get(provider)
          val database = if (wrapper == null) null else Database.get(wrapper).asInstanceOf[RocksDB]
          if (database == null || !database.isOwningHandle) NotOpen
          else Seen(body(database, ReopenedWith.get(wrapper).asInstanceOf[Options]))
        case "CLOSED" => NotOpen
        case _ => InUse
      }
    }
  }
}

private object LoadedStore {
  private val Package = "org.apache.spark.sql.execution.streaming.state."
  lazy val ProviderClass: Class[_] = Class.forName(Package + "RocksDBStateStoreProvider")
  private lazy val MachineClass = Class.forName(Package + "RocksDBStateMachine")
  private lazy val WrapperClass = Class.forName(Package + "RocksDB")

  /** Both fields are lazy in the provider: null until the store's first task. */
  lazy val Machine: Field = ofType(ProviderClass, MachineClass)
  lazy val Wrapper: Field = ofType(ProviderClass, WrapperClass)
  lazy val Lock: Field = named(MachineClass, "stateMachineLock")
  lazy val State: Field = named(MachineClass, "state")
  lazy val Database: Field = ofType(WrapperClass, classOf[RocksDB])
  lazy val ReopenedWith: Field = ofType(WrapperClass, classOf[Options])
  lazy val BlockCache: Field = ofType(WrapperClass, classOf[Cache])
  lazy val Version: Field = named(WrapperClass, "loadedVersion")

  /** Finds a field by type: the compiler renames private members that inner classes use. */
  private def ofType(owner: Class[_], wanted: Class[_]): Field =
    owner.getDeclaredFields.filter(_.getType == wanted) match {
      case Array(field) => opened(field)
      case other => throw new NoSuchFieldException(
        s"${other.length} fields of type ${wanted.getName} in ${owner.getName}")
    }

  private def named(owner: Class[_], name: String): Field = opened(owner.getDeclaredField(name))

  private def opened(field: Field): Field = { field.setAccessible(true); field }
}
